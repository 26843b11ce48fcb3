"""Add contexts of turns, original texts and workers; rename estimated costs and slots (ADR 0155)."""

import django.db.models.deletion
import theodolite.store.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('store', '0022_supposed_tokens'),
    ]

    operations = [
        migrations.AddField(
            model_name='turnrow',
            name='context',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='store.contentrow'),
        ),
        migrations.AddField(
            model_name='journalentryrow',
            name='original',
            field=theodolite.store.fields.StorableTextField(default=''),
        ),
        migrations.AddField(
            model_name='liveturnrow',
            name='original',
            field=theodolite.store.fields.StorableTextField(default=''),
        ),
        migrations.RenameField(
            model_name='journalentryrow',
            old_name='supposed_tokens',
            new_name='estimated_tokens',
        ),
        migrations.RenameField(
            model_name='journalentryrow',
            old_name='supposed_microusd',
            new_name='estimated_microusd',
        ),
        migrations.RemoveConstraint(
            model_name='acknowledgementrow',
            name='acknowledged_text',
        ),
        migrations.AddConstraint(
            model_name='acknowledgementrow',
            constraint=models.CheckConstraint(condition=models.Q(('subject__in', ['consent', 'content warning', 'instructions', 'topics', 'release'])), name='acknowledged_text'),
        ),
        migrations.RenameField(
            model_name='sessionrow',
            old_name='seat',
            new_name='slot',
        ),
        migrations.RenameModel(
            old_name='SeatRow',
            new_name='SlotRow',
        ),
        migrations.CreateModel(
            name='SlotLeaseRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('account', theodolite.store.fields.HashField()),
                ('owner', theodolite.store.fields.StorableTextField()),
                ('slots', models.IntegerField()),
                ('until', models.FloatField()),
            ],
            options={
                'db_table': 'store_slotlease',
                'constraints': [models.UniqueConstraint(fields=('account', 'owner'), name='slot_lease_owner')],
            },
        ),
        migrations.CreateModel(
            name='StartBlockRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('limit_key', theodolite.store.fields.HashField()),
                ('owner', theodolite.store.fields.StorableTextField()),
                ('requests', models.IntegerField()),
                ('tokens', models.BigIntegerField()),
                ('until', models.FloatField()),
            ],
            options={
                'db_table': 'store_startblock',
                'indexes': [models.Index(fields=['limit_key', 'until'], name='start_block_in_window')],
            },
        ),
        migrations.CreateModel(
            name='WorkerRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('owner', theodolite.store.fields.StorableTextField(unique=True)),
                ('host', theodolite.store.fields.StorableTextField()),
                ('process', models.BigIntegerField()),
                ('started', theodolite.store.fields.MomentField()),
                ('until', models.FloatField()),
                ('held_calls', models.BigIntegerField(default=0)),
                ('held_tokens', models.BigIntegerField(default=0)),
                ('held_microusd', models.BigIntegerField(default=0)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='store.runrow')),
            ],
            options={
                'db_table': 'store_worker',
            },
        ),
    ]
