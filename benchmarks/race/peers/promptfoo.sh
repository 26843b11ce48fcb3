#!/bin/bash
# promptfoo: promptfoo:simulated-user provider + llm-rubric.   bash promptfoo.sh N C OUTDIR   (EXTRA="--no-cache" to switch the disk cache off)
# The simulated user is a hosted API of promptfoo; PROMPTFOO_REMOTE_GENERATION_URL points it at the stub's /task.
set -e
N=$1; C=$2; OUT=$(realpath "$3"); B=${BASE_URL:-http://127.0.0.1:8399/v1}; T=${TURNS:-3}
export PROMPTFOO_CONFIG_DIR="$OUT/home" PROMPTFOO_DISABLE_TELEMETRY=1 PROMPTFOO_DISABLE_UPDATE=1 PROMPTFOO_DISABLE_SHARING=1 PROMPTFOO_REMOTE_GENERATION_URL="${B%/v1}/task" OPENAI_API_KEY=x OPENAI_BASE_URL=$B PROMPTFOO_SELF_HOSTED=1 NO_COLOR=1 CI=1
mkdir -p "$OUT/home"
if [ ! -f "$OUT/config.json" ]; then ${PYTHON:-python3} - "$N" "$OUT/config.json" "$B" "$T" <<'PY'
import json, os, sys
from job import scenario, TARGET_SYSTEM, user_system
n, path, base, t = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
p = lambda m: {"id": f"openai:chat:{m}", "config": {"apiBaseUrl": base, "apiKey": "x"}}
d = {"description": "bench", "prompts": [TARGET_SYSTEM], "providers": [p("target")],
  "defaultTest": {"provider": {"id": "promptfoo:simulated-user", "config": {"maxTurns": t, "instructions": "{{instructions}}"}}, "options": {"provider": p("judge-promptfoo")}, "assert": [{"type": "llm-rubric", "value": "The assistant answers the customer."}]},
  "tests": [{"vars": {"instructions": user_system(i)}} for i in range(n)]}
if os.environ.get("PROVIDER_PER_TEST"):  # the simulated user on every test instead of in defaultTest
    su = d["defaultTest"].pop("provider")
    for t in d["tests"]: t["provider"] = su
json.dump(d, open(path, "w"))
PY
fi
S=$(date +%s.%N)
${ENVS:-$(dirname "$0")/envs}/promptfoo/node_modules/.bin/promptfoo eval -c "$OUT/config.json" -j "$C" --no-table --no-progress-bar -o "$OUT/results.json" ${EXTRA:-} || true
E=$(date +%s.%N)
${PYTHON:-python3} - "$OUT/results.json" "$S" "$E" <<'PY'
import json, sys
d = json.load(open(sys.argv[1])); rs = d["results"]["results"]
print("RESULT " + json.dumps({"inner_s": float(sys.argv[3]) - float(sys.argv[2]), "completed": sum(1 for r in rs if r.get("response", {}).get("output")), "scored": sum(1 for r in rs if r.get("gradingResult") and r["gradingResult"].get("score", 0) > 0), "errors": sum(1 for r in rs if r.get("error")), "first_error": next((str(r["error"])[:200] for r in rs if r.get("error")), None)}))
PY
