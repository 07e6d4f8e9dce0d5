"""Uploads a topology, requests a plan, waits for it, and writes its schedule to standard output.

    python3 plan.py FORMAT FILE [URL [FILE_WITH_TOKEN]] > plan.jsonl

FORMAT is mtx, edges, csv, metis, json or spec; URL is http://127.0.0.1:7878 by default. Needs Python 3 alone.
"""

import json
import shutil
import sys
import urllib.error
import urllib.request


def main(form, file, url="http://127.0.0.1:7878", token_file=None):
    headers = {} if token_file is None else {"authorization": "Bearer " + open(token_file).read().strip()}

    def ask(path, body=None, media="application/octet-stream"):
        request = urllib.request.Request(url + path, body, {**headers, "content-type": media})
        return urllib.request.urlopen(request)

    with open(file, "rb") as graph:
        topology = json.load(ask(f"/v1/topologies?format={form}", graph.read()))
    plan = {"topology": topology["id"], "strategy": "routed"}
    job = json.load(ask("/v1/plans", json.dumps(plan).encode(), "application/json"))
    for line in ask(f"/v1/jobs/{job['id']}/events"):
        if line.startswith(b"data: "):
            job = json.loads(line[len(b"data: "):])
            print(job["state"], file=sys.stderr)
    if job["state"] != "done":
        sys.exit(f"the job has {job['state']}: {job['error']}")
    shutil.copyfileobj(ask(f"/v1/plans/{job['plan']}/schedule"), sys.stdout.buffer)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except urllib.error.HTTPError as refused:
        sys.exit(f"{refused}: {refused.read().decode()}")
    except OSError as error:
        sys.exit(f"{' '.join(sys.argv[2:4])}: {error}")
