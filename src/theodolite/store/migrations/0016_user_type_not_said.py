from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('store', '0015_brought_sessions'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='profilerow',
            name='profile_user_type',
        ),
        migrations.AddConstraint(
            model_name='profilerow',
            constraint=models.CheckConstraint(condition=models.Q(('user_type__in', ['', 'adversarial', 'everyday', 'domain expert'])), name='profile_user_type'),
        ),
    ]
