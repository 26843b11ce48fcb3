"""Cost of failed calls: attempts, tokens and money of unusable answers."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('store', '0010_reviews_and_rooms'),
    ]

    operations = [
        migrations.AddField(
            model_name='failurerow',
            name='attempts',
            field=models.IntegerField(default=0),
        ),
        migrations.AddField(
            model_name='failurerow',
            name='cost_microusd',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='failurerow',
            name='tokens_in',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='failurerow',
            name='tokens_out',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='failurerow',
            name='unpriced_calls',
            field=models.IntegerField(default=0),
        ),
    ]
