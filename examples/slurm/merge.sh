#!/bin/sh
# Joins the shards of an array job and writes results.json and report.html to RESULTS; see shard.sh.
#SBATCH --job-name=theodolite-merge
#SBATCH --cpus-per-task=1
#SBATCH --mem=4G
#SBATCH --time=00:30:00
set -eu
export THEODOLITE_WORKSPACE="${TMPDIR:-/tmp}/theodolite-${SLURM_JOB_ID}"
theodolite merge "$STUDY" "$SHARDS" --out "$RESULTS"
