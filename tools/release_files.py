"""Write an SBOM, checksums and a signature beside the wheel and sdist of a release, and verify them.

    python tools/release_files.py dist --key release.pem
    python tools/release_files.py dist --verify release.pub.pem

The SBOM is CycloneDX 1.6 and lists the packages that a plain `pip install` brings, as they are installed here.
The signature is a DSSE envelope with an in-toto statement over the checksums, by an Ed25519 key.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from packaging.requirements import Requirement

SBOM, SUMS, SIGNATURE = "sbom.cdx.json", "SHA256SUMS", "signature.dsse.json"
PAYLOAD_TYPE = "application/vnd.in-toto+json"


def plain(name: str) -> str:
    """Return a name of a package in its normal form."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needed_by(found: Distribution) -> list[str]:
    """Return the packages that a package requires here, without its extras."""
    required = [Requirement(text) for text in found.requires or ()]
    kept = [one for one in required if one.marker is None or one.marker.evaluate({"extra": ""})]
    with_extras = [
        plain(Requirement(text).name)
        for one in kept
        for extra in one.extras
        for text in distribution(one.name).requires or ()
        if (marker := Requirement(text).marker) is not None
        and marker.evaluate({"extra": extra})
        and not marker.evaluate({"extra": ""})
    ]
    return sorted({*(plain(one.name) for one in kept), *with_extras})


def closure(name: str) -> dict[str, Distribution]:
    """Return a package and all packages that it needs, by normal name."""
    result: dict[str, Distribution] = {}
    waiting = [plain(name)]
    while waiting:
        one = waiting.pop()
        if one not in result:
            result[one] = distribution(one)
            waiting += needed_by(result[one])
    return dict(sorted(result.items()))


def component(name: str, found: Distribution) -> dict[str, Any]:
    """Return a package as a component of an SBOM."""
    purl = f"pkg:pypi/{name}@{found.version}"
    stated = found.metadata.get("License-Expression") or found.metadata.get("License") or ""
    licence = stated.strip().splitlines()[0] if stated.strip() else ""
    licences = [{"license": {"name": licence}}] if licence else []
    entry: dict[str, Any] = {"type": "library", "bom-ref": purl, "name": name, "version": found.version, "purl": purl}
    return entry | ({"licenses": licences} if licences else {})


def sbom(name: str) -> dict[str, Any]:
    """Return the SBOM of a package; the same environment gives the same bytes."""
    found = closure(name)
    parts = {one: component(one, package) for one, package in found.items()}
    own = parts[plain(name)] | {"type": "application"}
    depends = [
        {"ref": parts[one]["bom-ref"], "dependsOn": [parts[need]["bom-ref"] for need in needed_by(package)]}
        for one, package in found.items()
    ]
    serial = uuid5(NAMESPACE_URL, json.dumps(depends))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {"component": own},
        "components": [part for one, part in parts.items() if one != plain(name)],
        "dependencies": depends,
    }


def checksums(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a release by name."""
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and path.name not in {SUMS, SIGNATURE}]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def statement(sums: dict[str, str]) -> bytes:
    """Return the in-toto statement over checksums."""
    subject = [{"name": name, "digest": {"sha256": value}} for name, value in sums.items()]
    body = {"_type": "https://in-toto.io/Statement/v1", "subject": subject, "predicateType": "release", "predicate": {}}
    return json.dumps(body, sort_keys=True).encode()


def sign(folder: Path, key: Path) -> None:
    """Write the signature of the checksums by a private Ed25519 key in PEM form."""
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
    from securesystemslib.dsse import Envelope
    from securesystemslib.signer import CryptoSigner, SSlibKey

    private: Any = load_pem_private_key(key.read_bytes(), password=None)
    envelope = Envelope(statement(checksums(folder)), PAYLOAD_TYPE, {})
    envelope.sign(CryptoSigner(private, SSlibKey.from_crypto(private.public_key())))
    (folder / SIGNATURE).write_text(json.dumps(envelope.to_dict(), indent=1) + "\n", encoding="utf-8")


def problems(folder: Path, key: Path) -> list[str]:
    """Return what differs between a release and its signed checksums; empty if all is as signed."""
    from cryptography.hazmat.primitives.serialization import load_pem_public_key
    from securesystemslib.dsse import Envelope
    from securesystemslib.exceptions import VerificationError
    from securesystemslib.signer import SSlibKey

    envelope = Envelope.from_dict(json.loads((folder / SIGNATURE).read_text(encoding="utf-8")))
    public: Any = load_pem_public_key(key.read_bytes())
    try:
        envelope.verify([SSlibKey.from_crypto(public)], 1)
    except VerificationError:
        return [f"the signature is not valid for the key {key}"]
    signed = {one["name"]: one["digest"]["sha256"] for one in json.loads(envelope.payload)["subject"]}
    present = checksums(folder)
    names = sorted({*signed, *present})
    return [f"{name} differs from its signed checksum" for name in names if signed.get(name) != present.get(name)]


def main() -> int:
    """Write or verify the files beside a release."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--key", type=Path, help="private Ed25519 key in PEM form")
    parser.add_argument("--verify", type=Path, metavar="KEY", help="public key in PEM form")
    options = parser.parse_args()
    if options.verify:
        found = problems(options.folder, options.verify)
        print("\n".join(found) or "All files are as signed.")
        return 1 if found else 0
    document = sbom("theodolite")
    (options.folder / SBOM).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    sums = checksums(options.folder)
    (options.folder / SUMS).write_text("".join(f"{value}  {name}\n" for name, value in sums.items()), encoding="utf-8")
    if options.key:
        sign(options.folder, options.key)
    print(
        f"{len(document['components'])} components in {SBOM}, {len(sums)} files in {SUMS}"
        f"{f', signed in {SIGNATURE}' if options.key else ', not signed'}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
