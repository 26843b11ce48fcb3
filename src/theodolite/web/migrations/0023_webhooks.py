"""Add webhooks and their deliveries."""

import django.db.models.deletion
import theodolite.web.models.account
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('web', '0022_api_tokens'),
    ]

    operations = [
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(default=theodolite.web.models.account.new_token, max_length=32, unique=True)),
                ('url', models.CharField(max_length=500)),
                ('events', models.JSONField(default=list)),
                ('known_disputes', models.JSONField(default=list)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('disabled_at', models.DateTimeField(null=True)),
                ('hosted', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to='web.hostedstudy')),
                ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'web_webhook',
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='WebhookDelivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(max_length=40, unique=True)),
                ('event', models.CharField(max_length=40)),
                ('subject', models.CharField(max_length=200)),
                ('body', models.TextField()),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('next_at', models.DateTimeField(db_index=True)),
                ('done_at', models.DateTimeField(null=True)),
                ('status', models.PositiveSmallIntegerField(null=True)),
                ('problem', models.CharField(blank=True, max_length=300)),
                ('webhook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='web.webhook')),
            ],
            options={
                'db_table': 'web_webhook_delivery',
                'ordering': ['-id'],
                'constraints': [models.UniqueConstraint(fields=('webhook', 'subject'), name='web_webhook_once')],
            },
        ),
    ]
