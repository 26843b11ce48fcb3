"""Create the tables of the web side of the oldest workspace that this program migrates (ADR 0155).

The database itself rejects changes and deletions of audit log entries. SQLite drops triggers with
a recreated table: a later change of `web_audit_entry` must create them again.
"""

from typing import Any

import django.core.validators
import django.db.models.deletion
import theodolite.web.models.account
from django.conf import settings
from django.db import migrations, models

REFUSED = 'entries of the audit log are never changed and never removed'

SQLITE = [
    f"CREATE TRIGGER web_audit_entry_no_{what} BEFORE {what} ON web_audit_entry BEGIN SELECT RAISE(ABORT, '{REFUSED}'); END"
    for what in ('UPDATE', 'DELETE')
]

POSTGRESQL = [
    "CREATE FUNCTION web_audit_entry_kept() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN RAISE EXCEPTION '{REFUSED}'; END $$",
    'CREATE TRIGGER web_audit_entry_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON web_audit_entry '
    'FOR EACH STATEMENT EXECUTE FUNCTION web_audit_entry_kept()',
]


def keep(_apps: Any, schema_editor: Any) -> None:
    for statement in POSTGRESQL if schema_editor.connection.vendor == 'postgresql' else SQLITE:
        schema_editor.execute(statement)


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Account',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('token', models.CharField(default=theodolite.web.models.account.new_token, max_length=32, unique=True)),
                ('email', models.EmailField(blank=True, max_length=254, null=True, unique=True)),
                ('name', models.CharField(blank=True, max_length=120)),
                ('is_host', models.BooleanField(default=False)),
                ('is_active', models.BooleanField(default=True)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'db_table': 'web_account',
            },
        ),
        migrations.CreateModel(
            name='GuessCount',
            fields=[
                ('cache_key', models.CharField(max_length=255, primary_key=True, serialize=False)),
                ('value', models.TextField()),
                ('expires', models.DateTimeField(db_index=True)),
            ],
            options={
                'db_table': 'web_guess_count',
            },
        ),
        migrations.CreateModel(
            name='Comfort',
            fields=[
                ('account', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='comfort', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('keys', models.BooleanField(default=True)),
                ('enter_sends', models.BooleanField(default=True)),
                ('streams', models.BooleanField(default=True)),
                ('text_size', models.PositiveSmallIntegerField(choices=[(1, 'as in the browser'), (2, 'larger'), (3, 'largest')], default=1, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(3)])),
                ('colours', models.CharField(blank=True, choices=[('', 'as on the device'), ('contrast', 'black on white'), ('contrast-dark', 'white on black')], default='', max_length=16)),
                ('language', models.CharField(blank=True, default='', max_length=35)),
            ],
            options={
                'db_table': 'web_comfort',
                'constraints': [models.CheckConstraint(condition=models.Q(('text_size__range', (1, 3))), name='web_comfort_size'), models.CheckConstraint(condition=models.Q(('colours__in', ['', 'contrast', 'contrast-dark'])), name='web_comfort_colours')],
            },
        ),
        migrations.CreateModel(
            name='HostedStudy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(default=theodolite.web.models.account.new_token, max_length=32, unique=True)),
                ('name', models.CharField(max_length=200)),
                ('title', models.CharField(blank=True, max_length=200)),
                ('folder', models.CharField(blank=True, max_length=1000)),
                ('state', models.CharField(choices=[('draft', 'Draft'), ('published', 'Published'), ('open', 'Open'), ('paused', 'Paused'), ('closed', 'Closed')], default='draft', max_length=12)),
                ('message', models.CharField(blank=True, max_length=500)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('keeps_hours', models.BooleanField(default=True)),
                ('second_factor', models.JSONField(default=list)),
            ],
            options={
                'db_table': 'web_hosted_study',
            },
        ),
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True, db_index=True)),
                ('actor', models.CharField(blank=True, max_length=32)),
                ('verb', models.CharField(max_length=60)),
                ('subject', models.CharField(blank=True, max_length=200)),
                ('facts', models.JSONField(default=dict)),
                ('hosted', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='web.hostedstudy')),
            ],
            options={
                'db_table': 'web_audit_entry',
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Batch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(default=theodolite.web.models.account.new_token, max_length=32, unique=True)),
                ('act', models.CharField(max_length=12)),
                ('whom', models.CharField(blank=True, max_length=32)),
                ('n_done', models.PositiveIntegerField()),
                ('n_refused', models.PositiveIntegerField()),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('undone_at', models.DateTimeField(blank=True, null=True)),
                ('n_undone', models.PositiveIntegerField(default=0)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('hosted', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='batches', to='web.hostedstudy')),
            ],
            options={
                'db_table': 'web_batch',
                'ordering': ['-id'],
                'constraints': [models.CheckConstraint(condition=models.Q(('act__in', ['offer', 'first', 'back', 'room', 'check', 'review'])), name='web_batch_act')],
            },
        ),
        migrations.CreateModel(
            name='Edition',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('version', models.CharField(max_length=64)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('hosted', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='editions', to='web.hostedstudy')),
            ],
            options={
                'db_table': 'web_edition',
                'ordering': ['number'],
                'constraints': [models.UniqueConstraint(fields=('hosted', 'number'), name='web_edition_number')],
            },
        ),
        migrations.CreateModel(
            name='EthicsApproval',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('body', models.CharField(max_length=200)),
                ('number', models.CharField(max_length=200)),
                ('granted', models.DateField()),
                ('expires', models.DateField(blank=True, null=True)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('hosted', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='approvals', to='web.hostedstudy')),
                ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'web_ethics_approval',
                'ordering': ['-id'],
                'constraints': [models.CheckConstraint(condition=models.Q(('expires', None), ('expires__gte', models.F('granted')), _connector='OR'), name='web_ethics_dates')],
            },
        ),
        migrations.CreateModel(
            name='Measurement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(default=theodolite.web.models.account.new_token, max_length=32, unique=True)),
                ('asked_at', models.DateTimeField(auto_now_add=True)),
                ('edition', models.CharField(max_length=64)),
                ('done_at', models.DateTimeField(null=True)),
                ('problem', models.TextField(blank=True)),
                ('asked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('hosted', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='measurements', to='web.hostedstudy')),
            ],
            options={
                'db_table': 'web_measurement',
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('organiser', 'organiser'), ('senior annotator', 'senior annotator'), ('annotator', 'annotator'), ('red teamer', 'red teamer'), ('field tester', 'field tester'), ('analyst', 'analyst'), ('application team', 'application team')], max_length=24)),
                ('token', models.CharField(default=theodolite.web.models.account.new_token, max_length=32, unique=True)),
                ('participant', models.CharField(default=theodolite.web.models.account.new_token, max_length=64)),
                ('joined_at', models.DateTimeField(auto_now_add=True)),
                ('left_at', models.DateTimeField(blank=True, null=True)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('hosted', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='web.hostedstudy')),
                ('reminded_at', models.DateTimeField(blank=True, null=True)),
                ('withdrew', models.BooleanField(default=False)),
            ],
            options={
                'db_table': 'web_membership',
                'constraints': [models.UniqueConstraint(fields=('account', 'hosted', 'role'), name='web_membership_once'), models.CheckConstraint(condition=models.Q(('role__in', ['organiser', 'senior annotator', 'annotator', 'red teamer', 'field tester', 'analyst', 'application team'])), name='web_role')],
            },
        ),
        migrations.CreateModel(
            name='PausedApplication',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=200)),
                ('since', models.DateTimeField(auto_now_add=True)),
                ('hosted', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='paused_applications', to='web.hostedstudy')),
            ],
            options={
                'db_table': 'web_paused_application',
                'constraints': [models.UniqueConstraint(fields=('hosted', 'name'), name='web_paused_once')],
            },
        ),
        migrations.CreateModel(
            name='RecruitLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(default=theodolite.web.models.account.new_token, max_length=32, unique=True)),
                ('role', models.CharField(choices=[('organiser', 'organiser'), ('senior annotator', 'senior annotator'), ('annotator', 'annotator'), ('red teamer', 'red teamer'), ('field tester', 'field tester'), ('analyst', 'analyst'), ('application team', 'application team')], default='field tester', max_length=24)),
                ('study_id', models.CharField(blank=True, max_length=64)),
                ('completion_code', models.CharField(blank=True, max_length=64)),
                ('most', models.PositiveIntegerField(default=1000)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('closed_at', models.DateTimeField(blank=True, null=True)),
                ('hosted', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='recruit_links', to='web.hostedstudy')),
                ('closes_at', models.DateTimeField(blank=True, null=True)),
                ('kind', models.CharField(choices=[('prolific', 'Prolific participants'), ('open', 'Anyone with the link')], default='prolific', max_length=12)),
                ('name', models.CharField(blank=True, max_length=80)),
                ('screened_out_code', models.CharField(blank=True, max_length=64)),
                ('language', models.CharField(blank=True, default='', max_length=35)),
            ],
            options={
                'db_table': 'web_recruit_link',
            },
        ),
        migrations.CreateModel(
            name='SavedView',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(default=theodolite.web.models.account.new_token, max_length=32, unique=True)),
                ('name', models.CharField(max_length=80)),
                ('query', models.CharField(blank=True, max_length=1000)),
                ('is_shared', models.BooleanField(default=False)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('hosted', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='saved_views', to='web.hostedstudy')),
            ],
            options={
                'db_table': 'web_saved_view',
                'ordering': ['name', 'id'],
                'constraints': [models.UniqueConstraint(fields=('hosted', 'account', 'name'), name='web_saved_view_name')],
            },
        ),
        migrations.CreateModel(
            name='SchemaDraft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(default=theodolite.web.models.account.new_token, max_length=32, unique=True)),
                ('name', models.SlugField(max_length=80)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('hosted', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='schema_drafts', to='web.hostedstudy')),
                ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'web_schema_draft',
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(fields=('hosted', 'name'), name='web_schema_draft_name')],
            },
        ),
        migrations.CreateModel(
            name='TimeSlot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(default=theodolite.web.models.account.new_token, max_length=32, unique=True)),
                ('role', models.CharField(choices=[('red teamer', 'red teamer'), ('field tester', 'field tester')], max_length=24)),
                ('begins', models.DateTimeField()),
                ('ends', models.DateTimeField()),
                ('places', models.PositiveIntegerField()),
                ('where', models.CharField(blank=True, max_length=120)),
                ('hosted', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='time_slots', to='web.hostedstudy')),
                ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'web_time_slot',
                'ordering': ['begins', 'id'],
                'constraints': [models.CheckConstraint(condition=models.Q(('ends__gt', models.F('begins'))), name='web_slot_ends'), models.CheckConstraint(condition=models.Q(('role__in', ['red teamer', 'field tester'])), name='web_slot_role')],
            },
        ),
        migrations.CreateModel(
            name='BatchLine',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('item', models.CharField(max_length=32)),
                ('made', models.CharField(blank=True, max_length=32)),
                ('refused', models.CharField(blank=True, max_length=200)),
                ('batch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lines', to='web.batch')),
            ],
            options={
                'db_table': 'web_batch_line',
            },
        ),
        migrations.CreateModel(
            name='Booking',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now=True)),
                ('membership', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='booking', to='web.membership')),
                ('slot', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='bookings', to='web.timeslot')),
            ],
            options={
                'db_table': 'web_booking',
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(default=theodolite.web.models.account.new_token, max_length=32, unique=True)),
                ('role', models.CharField(blank=True, choices=[('organiser', 'organiser'), ('senior annotator', 'senior annotator'), ('annotator', 'annotator'), ('red teamer', 'red teamer'), ('field tester', 'field tester'), ('analyst', 'analyst'), ('application team', 'application team')], max_length=24)),
                ('email', models.EmailField(blank=True, max_length=254)),
                ('name', models.CharField(blank=True, max_length=120)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField()),
                ('sent_at', models.DateTimeField(blank=True, null=True)),
                ('used_at', models.DateTimeField(blank=True, null=True)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('hosted', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='web.hostedstudy')),
                ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('membership', models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='invitation', to='web.membership')),
                ('language', models.CharField(blank=True, default='', max_length=35)),
            ],
            options={
                'db_table': 'web_invitation',
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='PersonalCode',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(default=theodolite.web.models.account.new_token, max_length=32, unique=True)),
                ('number', models.PositiveIntegerField(default=1)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('seat', models.CharField(blank=True, max_length=40)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('first_used_at', models.DateTimeField(blank=True, null=True)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('membership', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='code', to='web.membership')),
            ],
            options={
                'db_table': 'web_personal_code',
            },
        ),
        migrations.CreateModel(
            name='Recruit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('person_id', models.CharField(max_length=64)),
                ('session_id', models.CharField(max_length=64)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('membership', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='recruit', to='web.membership')),
                ('link', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='recruits', to='web.recruitlink')),
            ],
            options={
                'db_table': 'web_recruit',
                'constraints': [models.UniqueConstraint(fields=('link', 'person_id'), name='web_recruit_once')],
            },
        ),
        migrations.CreateModel(
            name='SchemaRevision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('text', models.TextField()),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('draft', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='revisions', to='web.schemadraft')),
                ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'web_schema_revision',
                'ordering': ['-number'],
                'constraints': [models.UniqueConstraint(fields=('draft', 'number'), name='web_schema_revision_once')],
            },
        ),
        migrations.CreateModel(
            name='Screening',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.CharField(max_length=64)),
                ('passed', models.BooleanField()),
                ('at', models.DateTimeField(auto_now=True)),
                ('membership', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='screening', to='web.membership')),
            ],
            options={
                'db_table': 'web_screening',
            },
        ),
        migrations.CreateModel(
            name='Submission',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(default=theodolite.web.models.account.new_token, max_length=32, unique=True)),
                ('name', models.SlugField(max_length=60)),
                ('state', models.CharField(choices=[('draft', 'Draft'), ('submitted', 'Submitted'), ('returned', 'Returned'), ('accepted', 'Accepted'), ('declined', 'Declined'), ('withdrawn', 'Withdrawn')], default='draft', max_length=12)),
                ('way', models.CharField(choices=[('endpoint', 'An endpoint at an address'), ('class', 'A class that the operator has installed')], default='endpoint', max_length=10)),
                ('url', models.CharField(blank=True, max_length=1000)),
                ('body', models.TextField(blank=True)),
                ('reply', models.CharField(blank=True, default='$.text', max_length=200)),
                ('target', models.CharField(blank=True, max_length=300)),
                ('sealed', models.BinaryField(default=b'')),
                ('description', models.TextField(blank=True)),
                ('system', models.TextField(blank=True)),
                ('capabilities', models.TextField(blank=True)),
                ('limitations', models.TextField(blank=True)),
                ('guardrails', models.CharField(default='not declared', max_length=24)),
                ('guardrail_notes', models.TextField(blank=True)),
                ('agreed_by', models.CharField(blank=True, max_length=120)),
                ('agreed_at', models.DateTimeField(null=True)),
                ('agreed_version', models.CharField(blank=True, max_length=64)),
                ('examined', models.JSONField(null=True)),
                ('examined_at', models.DateTimeField(null=True)),
                ('examining_since', models.DateTimeField(null=True)),
                ('reason', models.TextField(blank=True)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('decided_at', models.DateTimeField(null=True)),
                ('hosted', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='submissions', to='web.hostedstudy')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='submissions', to='web.membership')),
                ('prompt', models.TextField(blank=True, default='')),
            ],
            options={
                'db_table': 'web_submission',
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ['withdrawn', 'declined']), _negated=True), fields=('hosted', 'name'), name='web_submission_name'), models.CheckConstraint(condition=models.Q(('state__in', ['draft', 'returned', 'withdrawn']), models.Q(('agreed_by', ''), _negated=True), _connector='OR'), name='web_submission_signed')],
            },
        ),
        migrations.CreateModel(
            name='UnsentText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('session', models.CharField(max_length=64)),
                ('text', models.TextField()),
                ('at', models.DateTimeField(auto_now=True)),
                ('membership', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='unsent_texts', to='web.membership')),
            ],
            options={
                'db_table': 'web_unsent_text',
                'constraints': [models.UniqueConstraint(fields=('membership', 'session'), name='web_unsent_once')],
            },
        ),
        migrations.CreateModel(
            name='SchemaVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('version', models.CharField(max_length=64)),
                ('edition', models.CharField(blank=True, max_length=200)),
                ('note', models.CharField(blank=True, max_length=500)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('draft', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='web.schemadraft')),
                ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('revision', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='web.schemarevision')),
            ],
            options={
                'db_table': 'web_schema_version',
                'ordering': ['-number'],
                'constraints': [models.UniqueConstraint(fields=('draft', 'number'), name='web_schema_version_once')],
            },
        ),
        migrations.RunPython(keep),
    ]
