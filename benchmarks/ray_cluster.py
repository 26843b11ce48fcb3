"""10,000 dialogues on a Ray cluster of two nodes on this machine; one node is killed; needs `theodolite[ray]`.

    python benchmarks/ray_cluster.py [--dialogues 10000] [--postgresql]

The study is the live study of `theodolite demo` with more repeats.
With `--postgresql` the second node has an address of its own, as on another machine, and the workers share a
PostgreSQL server; else they share the file of the workspace.
It prints the seconds of the undisturbed local run, of the run on the cluster, and whether the results are equal.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled", "THEODOLITE_ALLOW_CODE": "1"}
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

DEMO = resources.files("theodolite.resources") / "demo" / "spoiler-guard"
OF_ITS_OWN = ("command", "finished", "key", "started")
COMMAND = [sys.executable, "-m", "theodolite"]


def demo(folder: Path, n: int) -> Path:
    """Copy the live study of the demo, with repeats for n dialogues."""
    shutil.copytree(str(DEMO), folder, ignore=shutil.ignore_patterns("__pycache__"))
    file = folder / "study.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("repeats: 3", f"repeats: {n // 4}"), encoding="utf-8")
    return folder


def n_dialogues(folder: Path, environ: dict[str, str]) -> int:
    """Return the stored dialogues of the latest run, as `theodolite status` states them."""
    command = [*COMMAND, "status", str(folder), "--json"]
    done = subprocess.run(command, capture_output=True, env=environ, check=False)
    return int(json.loads(done.stdout)["sessions"].get("done", 0)) if done.returncode == 0 else 0


def results(folder: Path) -> dict:
    """Return results.json without the moments and names of a run."""
    found = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    run = {name: value for name, value in found["run"].items() if name not in OF_ITS_OWN}
    return {name: value for name, value in found.items() if name != "generated"} | {"run": run}


@contextmanager
def database(*, is_postgresql: bool) -> Iterator[dict[str, str]]:
    """Yield the environment of a run with its database."""
    if not is_postgresql:
        yield dict(os.environ)
        return
    from tests.postgres import running_server

    with running_server() as server:
        yield {**os.environ, "DATABASE_URL": server.create()}


def main(n: int, *, is_postgresql: bool) -> None:
    """Run the study on this machine and on a cluster, and compare."""
    from ray.cluster_utils import Cluster

    with tempfile.TemporaryDirectory() as home, database(is_postgresql=is_postgresql) as environ:
        local, study = demo(Path(home) / "local", n), demo(Path(home) / "study", n)
        started = time.perf_counter()
        subprocess.run([*COMMAND, "run", str(local), "--json"], check=True, stdout=subprocess.DEVNULL)
        alone_s = time.perf_counter() - started
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        lost = cluster.add_node(num_cpus=1, **({"node_ip_address": "127.0.0.2"} if is_postgresql else {}))
        cluster.wait_for_nodes()
        try:
            words = ["run", str(study), "--on", "ray", "--address", cluster.address, "--workers", "2", "--json"]
            started = time.perf_counter()
            driver = subprocess.Popen([*COMMAND, *words], stdout=subprocess.DEVNULL, env=environ)
            while (killed_at := n_dialogues(study, environ)) < n // 4 and driver.poll() is None:
                time.sleep(2)
            cluster.remove_node(lost, allow_graceful=False)
            code = driver.wait()
            on_ray_s = time.perf_counter() - started
        finally:
            cluster.shutdown()
        is_equal = results(local) == results(study)
        print(f"{n:,} dialogues: one process {alone_s:.1f} s; two Ray workers, one node killed at {killed_at:,}:")
        print(
            f"{on_ray_s:.1f} s, exit code {code}, {n_dialogues(study, environ):,} dialogues, equal results: {is_equal}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialogues", type=int, default=10_000)
    parser.add_argument("--postgresql", action="store_true")
    options = parser.parse_args()
    main(options.dialogues, is_postgresql=options.postgresql)
