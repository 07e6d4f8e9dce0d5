"""Uploads a topology, requests a plan, waits for it, and writes its schedule to standard output.

    python3 plan.py FORMAT FILE [URL [FILE_WITH_TOKEN]] [--bytes N] [--machine M] [--ranks N] > plan.jsonl
    python3 plan.py FORMAT FILE --rank 7 > rank7.json

FORMAT is mtx, edges, csv, metis, json or spec; URL is http://127.0.0.1:7878 by default. Needs Python 3 alone.
--bytes is the length of a block, and --machine the computers and their network, as in docs/machines.md.
--ranks divides the rows of a matrix among so many processes. --rank writes what that rank sends and receives instead.
"""

import argparse
import json
import shutil
import sys
import urllib.error
import urllib.request


def main(given):
    url = given.url.rstrip("/")
    headers = {}
    if given.token_file is not None:
        with open(given.token_file, encoding="utf-8") as tokens:
            headers["authorization"] = "Bearer " + tokens.read().strip()

    def ask(path, body=None, media="application/octet-stream"):
        request = urllib.request.Request(url + path, body, {**headers, "content-type": media})
        return urllib.request.urlopen(request)

    with open(given.file, "rb") as graph:
        ranks = "" if given.ranks is None else f"&ranks={given.ranks}"
        topology = json.load(ask(f"/v1/topologies?format={given.format}{ranks}", graph.read()))
    print(f"{topology['ranks']} ranks, {topology['edges']} edges", file=sys.stderr)
    if topology["remark"] is not None:
        print(f"remark: {topology['remark']}", file=sys.stderr)
    # The service takes the strategy that it simulates as the fastest for this length on this machine.
    length = 64 if given.bytes is None else given.bytes
    nodes = -(-topology["ranks"] // 16)
    assumed = f"cluster:nodes={nodes},cores=16,profile=simgrid-fast"
    machine = assumed if given.machine is None else given.machine
    plan = {"topology": topology["id"], "machine": machine, "bytes": length}
    job = json.load(ask("/v1/plans", json.dumps(plan).encode(), "application/json"))
    state = None
    for line in ask(f"/v1/jobs/{job['id']}/events"):
        if line.startswith(b"data: "):
            job = json.loads(line[len(b"data: "):])
            if job["state"] != state:
                state = job["state"]
                print(state, file=sys.stderr)
    if job["state"] != "done":
        sys.exit(f"the job has {job['state']}: {job['error']}")
    statistics = json.load(ask(f"/v1/plans/{job['plan']}"))["statistics"]
    messages, direct, simulated = statistics["messages"], statistics["direct"], statistics.get("simulated")
    print(f"{messages['direct']} messages direct, {messages['planned']} planned", file=sys.stderr)
    print(f"{direct['interNode']} between nodes direct, {messages['interNode']} planned", file=sys.stderr)
    if simulated is not None:
        fastest = min(statistics["alternatives"], key=lambda each: each["timeUs"])
        starts = fastest["breakEvenStarts"]
        pays = "never pays" if starts is None else f"breaks even after {float(f'{starts:.2g}'):,.0f} exchanges"
        print(
            f"{simulated['directUs']:.1f} us direct, {simulated['plannedUs']:.1f} us planned: "
            f"{simulated['speedup']:.2f} times as fast, {pays}",
            file=sys.stderr,
        )
    missing = [f"--{name}" for name in ("bytes", "machine") if getattr(given, name) is None]
    hint = f" (assumed: give {' and '.join(missing)})" if missing else ""
    print(f"simulated for blocks of {length} bytes on {machine}{hint}", file=sys.stderr)
    if statistics["remark"] is not None:
        print(statistics["remark"], file=sys.stderr)
    print(f"plan {job['plan']}", file=sys.stderr)
    part = "schedule" if given.rank is None else f"ranks/{given.rank}"
    shutil.copyfileobj(ask(f"/v1/plans/{job['plan']}/{part}"), sys.stdout.buffer)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("format")
    parser.add_argument("file")
    parser.add_argument("url", nargs="?", default="http://127.0.0.1:7878")
    parser.add_argument("token_file", nargs="?")
    parser.add_argument("--bytes", type=int)
    parser.add_argument("--machine")
    parser.add_argument("--ranks", type=int)
    parser.add_argument("--rank", type=int)
    given = parser.parse_intermixed_args()
    if not given.url.startswith(("http://", "https://")):
        sys.exit(f"expected the URL of the service, such as http://127.0.0.1:7878, got {given.url}")
    try:
        main(given)
    except urllib.error.HTTPError as refused:
        error = json.load(refused)["error"]
        sys.exit(f"{error['code']}: {error['message']}")
    except urllib.error.URLError as error:
        sys.exit(f"no service at {given.url}: {error.reason}; start one by npx rankweave serve")
    except OSError as error:
        sys.exit(f"{given.file}: {error}")
