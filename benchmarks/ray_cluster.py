"""10,000 dialogues on a Ray cluster of two nodes on this machine; one node is killed; needs `theodolite[ray]`.

    python benchmarks/ray_cluster.py [DIALOGUES]

It prints the seconds of the undisturbed local run, of the run on the cluster, and whether the results are equal.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from importlib import resources
from pathlib import Path

os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled", "THEODOLITE_ALLOW_CODE": "1"}

TOY = resources.files("theodolite.resources") / "demo" / "spoiler-guard"
OF_ITS_OWN = ("command", "finished", "key", "started")


def toy(folder: Path, n: int) -> Path:
    shutil.copytree(str(TOY), folder, ignore=shutil.ignore_patterns("__pycache__"))
    file = folder / "study.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("repeats: 3", f"repeats: {n // 4}"), encoding="utf-8")
    return folder


def n_dialogues(folder: Path) -> int:
    try:
        with sqlite3.connect(f"file:{folder}/.theodolite/theodolite.db?mode=ro", uri=True) as database:
            return int(database.execute("SELECT count(*) FROM store_dialogue").fetchone()[0])
    except sqlite3.Error:
        return 0


def results(folder: Path) -> dict:
    found = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    run = {name: value for name, value in found["run"].items() if name not in OF_ITS_OWN}
    return {name: value for name, value in found.items() if name != "generated"} | {"run": run}


def main(n: int) -> None:
    from ray.cluster_utils import Cluster

    with tempfile.TemporaryDirectory() as home:
        local, study = toy(Path(home) / "local", n), toy(Path(home) / "study", n)
        command = [sys.executable, "-m", "theodolite", "run"]
        started = time.perf_counter()
        subprocess.run([*command, str(local), "--json"], check=True, stdout=subprocess.DEVNULL)
        alone_s = time.perf_counter() - started
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
        lost = cluster.add_node(num_cpus=2)
        try:
            words = [str(study), "--on", "ray", "--address", cluster.address, "--workers", "2", "--json"]
            started = time.perf_counter()
            driver = subprocess.Popen([*command, *words], stdout=subprocess.DEVNULL)
            while n_dialogues(study) < n // 4 and driver.poll() is None:
                time.sleep(0.1)
            killed_at = n_dialogues(study)
            cluster.remove_node(lost, allow_graceful=False)
            code = driver.wait()
            on_ray_s = time.perf_counter() - started
        finally:
            cluster.shutdown()
        is_equal = results(local) == results(study)
        print(f"{n:,} dialogues: one process {alone_s:.1f} s; two Ray workers, one node killed at {killed_at:,}:")
        print(f"{on_ray_s:.1f} s, exit code {code}, {n_dialogues(study):,} dialogues, equal results: {is_equal}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
