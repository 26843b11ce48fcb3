"""Add options and shared results of submissions, event messages, API tokens, webhooks and stored keys (ADR 0155)."""

import django.db.models.deletion
import theodolite.web.models.account
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('web', '0016_languages'),
    ]

    operations = [
        migrations.AddField(
            model_name='submission',
            name='claim_tests',
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name='submission',
            name='options',
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name='measurement',
            name='shared_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='comfort',
            name='advances',
            field=models.BooleanField(default=True),
        ),
        migrations.CreateModel(
            name='EventMessage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('author', models.CharField(blank=True, max_length=32)),
                ('location', models.CharField(blank=True, max_length=80)),
                ('text', models.TextField()),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('hosted', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='event_messages', to='web.hostedstudy')),
                ('membership', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='event_messages', to='web.membership')),
            ],
            options={
                'db_table': 'web_event_message',
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(max_length=32, unique=True)),
                ('name', models.CharField(max_length=80)),
                ('hash', models.CharField(max_length=64)),
                ('scopes', models.JSONField(default=list)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField(null=True)),
                ('used_at', models.DateTimeField(null=True)),
                ('revoked_at', models.DateTimeField(null=True)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'web_api_token',
                'ordering': ['-id'],
            },
        ),
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
        migrations.CreateModel(
            name='StoredKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(default=theodolite.web.models.account.new_token, max_length=32, unique=True)),
                ('variable', models.CharField(max_length=60)),
                ('receiver', models.CharField(max_length=255)),
                ('sealed', models.BinaryField()),
                ('made_at', models.DateTimeField(auto_now=True)),
                ('hosted', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='stored_keys', to='web.hostedstudy')),
                ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'web_stored_key',
                'ordering': ['variable'],
                'constraints': [models.UniqueConstraint(fields=('hosted', 'variable'), name='web_stored_key_once')],
            },
        ),
        migrations.AddField(
            model_name='hostedstudy',
            name='analysts_run_judges',
            field=models.BooleanField(default=False),
        ),
    ]
