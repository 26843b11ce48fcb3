#!/bin/sh
# One task of an array job runs one shard of a study:
#   shards=$(sbatch --parsable --array=1-8 shard.sh)
#   sbatch --dependency=afterok:"$shards" merge.sh
# STUDY is a folder with study.yaml on the shared file system; SHARDS receives one file per task.
#SBATCH --job-name=theodolite-shard
#SBATCH --cpus-per-task=1
#SBATCH --mem=2G
#SBATCH --time=04:00:00
#SBATCH --requeue
set -eu
# The database stays on the disk of the node: SQLite needs locks that network file systems lack.
# A requeued task on another node starts from the shard file of its first attempt.
export THEODOLITE_WORKSPACE="${TMPDIR:-/tmp}/theodolite-${SLURM_ARRAY_JOB_ID}-${SLURM_ARRAY_TASK_ID}"
shard="${SLURM_ARRAY_TASK_ID}/${SLURM_ARRAY_TASK_COUNT}"
name="-${SLURM_ARRAY_TASK_ID}-of-${SLURM_ARRAY_TASK_COUNT}.jsonl"
set -- --shard "$shard" --out "$SHARDS"
for file in "$SHARDS"/*"$name"; do
    if [ -e "$file" ]; then set -- "$@" --from "$file"; fi
done
theodolite run "$STUDY" "$@"
