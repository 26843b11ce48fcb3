#!/bin/sh
# One environment for each peer, under benchmarks/race/peers/envs: sh install.sh [peer ...]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
envs=${ENVS:-$here/envs}
python=${PY:-python3}
mkdir -p "$envs"

venv() {
  name=$1; shift
  [ -d "$envs/$name" ] || "$python" -m venv "$envs/$name"
  "$envs/$name/bin/pip" install --quiet --disable-pip-version-check "$@"
  touch "$envs/$name/ready"  # an environment that is half made takes no part
  echo "$name is there"
}

[ $# -gt 0 ] || set -- inspect pyrit deepeval azure promptfoo
for peer in "$@"; do
  case $peer in
    inspect) venv inspect inspect_ai openai ;;
    pyrit) venv pyrit pyrit ;;
    deepeval) venv deepeval deepeval ;;
    azure) venv azure azure-ai-evaluation openai ;;
    promptfoo)
      mkdir -p "$envs/promptfoo"
      (cd "$envs/promptfoo" && npm init --yes > /dev/null && npm install promptfoo --no-audit --no-fund --silent && touch ready)
      echo "promptfoo is there" ;;
    *) echo "no peer is called $peer" >&2; exit 2 ;;
  esac
done
