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
    url = url.rstrip("/")
    headers = {}
    if token_file is not None:
        with open(token_file, encoding="utf-8") as tokens:
            headers["authorization"] = "Bearer " + tokens.read().strip()

    def ask(path, body=None, media="application/octet-stream"):
        request = urllib.request.Request(url + path, body, {**headers, "content-type": media})
        return urllib.request.urlopen(request)

    with open(file, "rb") as graph:
        topology = json.load(ask(f"/v1/topologies?format={form}", graph.read()))
    # The service takes the strategy that simulates fastest for blocks of 64 bytes on nodes of 16 cores.
    nodes = -(-topology["ranks"] // 16)
    machine = f"cluster:nodes={nodes},cores=16,profile=simgrid-fast"
    plan = {"topology": topology["id"], "machine": machine, "bytes": 64}
    job = json.load(ask("/v1/plans", json.dumps(plan).encode(), "application/json"))
    for line in ask(f"/v1/jobs/{job['id']}/events"):
        if line.startswith(b"data: "):
            job = json.loads(line[len(b"data: "):])
            print(job["state"], file=sys.stderr)
    if job["state"] != "done":
        sys.exit(f"the job has {job['state']}: {job['error']}")
    statistics = json.load(ask(f"/v1/plans/{job['plan']}"))["statistics"]
    messages, simulated = statistics["messages"], statistics.get("simulated")
    print(f"{messages['direct']} messages direct, {messages['planned']} planned", file=sys.stderr)
    if simulated is not None:
        print(f"{simulated['directUs']:.1f} us direct, {simulated['plannedUs']:.1f} us planned, simulated", file=sys.stderr)
    if statistics["remark"] is not None:
        print(statistics["remark"], file=sys.stderr)
    shutil.copyfileobj(ask(f"/v1/plans/{job['plan']}/schedule"), sys.stdout.buffer)


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    if len(sys.argv) > 3 and not sys.argv[3].startswith(("http://", "https://")):
        sys.exit(f"expected the URL of the service, such as http://127.0.0.1:7878, got {sys.argv[3]}")
    try:
        main(*sys.argv[1:])
    except urllib.error.HTTPError as refused:
        sys.exit(f"{refused}: {refused.read().decode()}")
    except OSError as error:
        sys.exit(f"{' '.join(sys.argv[2:])}: {error}")
