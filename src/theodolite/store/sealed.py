"""What teams left in the vault of a workspace, still sealed; read where the web side is not loaded."""

from __future__ import annotations

from django.db import connection

_SUBMISSIONS = "web_submission"

_ACCEPTED = """
SELECT submission.token, submission.sealed FROM web_submission submission
JOIN web_hosted_study hosted ON hosted.id = submission.hosted_id
WHERE hosted.name = %s AND submission.state = 'accepted'
"""


def sealed_credentials(study: str) -> dict[str, bytes]:
    """Return the sealed credentials of a study's accepted applications, by the submission's token.

    Nothing where no server ever ran over the workspace: its tables are not there then.
    """
    with connection.cursor() as cursor:
        if _SUBMISSIONS not in connection.introspection.table_names(cursor):
            return {}
        cursor.execute(_ACCEPTED, [study])
        return {token: bytes(sealed) for token, sealed in cursor.fetchall() if sealed}
