#!/usr/bin/env python3
"""A stock BOINC client takes part, through good days and bad.

Every test has a server, a client as its package has it, and between them a
proxy that reads along and spoils single messages. Whatever happens, a result
that the client was thanked for is in the store once, and none is counted that
the server has not got whole.
"""

import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.boinc_scene import LONG, Scene, expect_counted_once
from support.project import Skip, expect, run, wait_for
from support.stock_boinc import StockBoinc, new_account


def sent_names(exchange):
    """Of the results in a scheduler's reply."""
    part = exchange.reply.decode().split("</workunit>")[-1]
    return re.findall(r"<result>\s*<name>(r\d+)</name>", part)


def reported_names(exchange):
    """Of the results that a request reports."""
    return re.findall(r"<result>\s*<name>(r\d+)</name>",
                      exchange.body.decode(errors="replace"))


def reports(exchange):
    return exchange.is_rpc() and bool(reported_names(exchange))


def is_update_upload(path, body):
    return (path.endswith("file_upload_handler") and
            re.search(rb"<name>r\d+_update_", body[:2000]) and
            b"<data>" in body)


def test_thanks(stage):
    """Attached, it computes, is thanked and sees its credit."""
    scene = Scene(stage)
    client = scene.client(attach=False)
    key = new_account(scene.master, "vera")
    began = stage.seconds()
    client.attach(scene.master, key)
    wait_for("a first task", lambda: "Starting task" in client.text(), 60, 0.1)
    first = stage.seconds() - began
    scene.wait_for_valid(3)
    thanked = set()
    for exchange in scene.proxy.rpcs():
        thanked.update(re.findall(r"<result_ack>\s*<name>(r\d+)<",
                                  exchange.reply.decode()))
    expect(len(thanked) >= 3, f"thanked for {thanked}")
    client.update(scene.master)

    def is_shown():
        text = client.boinccmd("--get_project_status")
        credit = re.search(r"user_total_credit: ([0-9.]+)", text)
        return ("user_name: vera" in text and credit and
                float(credit[1]) > 0)
    wait_for("name and credit in the client", is_shown, 30, 0.5)
    host = scene.hosts()[0]
    expect(host["state"] == "new" and host["user"] == "vera", host)
    client.stop()
    expect_counted_once(scene)
    return f"first task {first:.0f} s after attaching"


def test_unknown_key(stage):
    scene = Scene(stage)
    client = scene.client(attach=False).attach(scene.master, "0" * 32)
    wait_for("a word about the key",
             lambda: "no account with this key" in client.text(), 30, 0.2)
    expect(not scene.hosts(), "an unknown key made a host")
    return "an unknown key gets no host and a clear word"


def test_tampered_program(stage):
    scene = Scene(stage)

    def spoil(exchange):
        text = exchange.reply.decode(errors="replace")
        if not exchange.is_rpc() or "<file_signature>" not in text:
            return False
        spoilt = re.sub(r"(<file_signature>\s*)([0-9a-f])",
                        lambda m: m[1] + f"{15 - int(m[2], 16):x}", text)
        exchange.reply = spoilt.encode()
        return True
    scene.proxy.meddle(spoil)
    client = scene.client()
    wait_for("a failed result", lambda: scene.rows(outcome="client_error"), 90,
             0.5)
    reason = scene.rows(outcome="client_error")[0]["reason"]
    expect("check_file_signature" in client.text() or
           "signature" in reason, f"not for its signature: {reason}")
    expect("Starting task" not in client.text(), "a false program was started")
    return f"a program with a false signature is not run ({reason[:60]})"


def test_tampered_input(stage):
    scene = Scene(stage)

    def spoil(exchange):
        if "/download/snapshot-" not in exchange.path:
            return False
        spoilt = bytearray(exchange.reply)
        spoilt[len(spoilt) // 2] ^= 1
        exchange.reply = bytes(spoilt)
        return True
    scene.proxy.meddle(spoil)
    client = scene.client()

    def has_failed():
        client.update(scene.master)  # clients put reports of failures off
        return scene.rows(outcome="client_error")
    wait_for("a failed result", has_failed, 60, 2)
    expect("-119" in client.text() or "MD5" in client.text(), "no MD5 error")
    return "a spoilt snapshot is noticed and reported"


def test_cut_download(stage):
    scene = Scene(stage)
    scene.proxy.cut_reply("/download/shard-", 1_500_000)
    client = scene.client()
    scene.wait_with_retries("a valid result", scene.valid, client)
    ranges = [exchange for exchange in scene.proxy.seen
              if "/download/shard-" in exchange.path and
              exchange.headers.get("Range")]
    expect(ranges and ranges[0].status == 206, "no download was resumed")
    return f"a cut download goes on: {ranges[0].headers['Range']}"


def test_cut_upload(stage):
    scene = Scene(stage, "--model", "mlp:256", "--batch", 32, "--local-steps",
                  40, "--epochs", 50)
    scene.proxy.cut_request(is_update_upload, 100_000)
    client = scene.client()

    def resumed():
        """Results, and from where their uploads went on."""
        heads = [re.search(rb"<name>r(\d+)_update_.*<offset>([1-9]\d*)<",
                           exchange.body[:2000], re.S)
                 for exchange in scene.proxy.seen]
        return [(int(head[1]), int(head[2])) for head in heads if head]
    scene.wait_with_retries("a resumed upload", resumed, client)
    result, offset = resumed()[0]
    # Not any valid result: the next task may have overtaken this one.
    scene.wait_with_retries(f"r{result} to be valid",
                            lambda: scene.rows(
                                id=result, validate_state="valid"), client)
    expect_counted_once(scene)
    return f"a cut upload goes on from {offset}"


def test_refused_upload(stage):
    """A client calls a task done whose upload was refused."""
    scene = Scene(stage)

    scene.proxy.reply_instead(
        is_update_upload, b"<data_server_reply>\n<status>-1</status>\n"
                          b"</data_server_reply>\n")
    client = scene.client()
    scene.wait_with_retries(
        "a result without its upload",
        lambda: scene.rows(validate_state="invalid") or
        scene.rows(outcome="client_error"), client)
    scene.wait_with_retries("another that is valid", scene.valid, client)
    expect_counted_once(scene)
    return "a refused upload is no success"


def test_abort(stage):
    scene = Scene(stage, *LONG, "--epochs", 2)
    client = scene.client()
    wait_for("a first task", lambda: "Starting task" in client.text(), 60, 0.2)
    scene.project.order("train", "stop", "first")
    wait_for("a task that was aborted",
             lambda: any("state_aborted" in task.get("state", "") or
                         "aborted" in task.get("state", "")
                         for task in client.tasks()) or
             any("<exit_status>202<" in exchange.body.decode(errors="replace")
                 for exchange in scene.proxy.rpcs()), 60, 0.5)
    return "a task of a stopped run is aborted"


def test_lost_reply(stage):
    """A reply with work is lost: the same results come again."""
    scene = Scene(stage)
    dropped = []

    # Not the first: this client would be another host, because clients that
    # share a machine are never taken for each other.
    def wants(exchange):
        if (not exchange.is_rpc() or b"<hostid>0<" in exchange.body or
                not sent_names(exchange)):
            return False
        dropped.append(exchange)
        return True
    scene.proxy.drop_reply(wants)
    client = scene.client()
    wait_for("a lost reply", lambda: dropped, 60, 0.2)
    sent = dropped[0]
    lost = sent_names(sent)

    def came_again():
        client.update(scene.master)
        return any(set(lost) & set(sent_names(exchange)) for exchange in
                   scene.proxy.rpcs() if exchange is not sent)
    wait_for("the same results again", came_again, 90, 2)
    scene.wait_for_valid(2)
    expect_counted_once(scene)
    expect(not scene.rows(outcome="no_reply"), "a lost result was given up")
    return f"lost results came again: {', '.join(lost)}"


def test_lost_thanks(stage):
    """The reply to a report is lost: reported twice, counted once."""
    scene = Scene(stage)
    scene.proxy.drop_reply(reports)
    client = scene.client()
    wait_for("a report", lambda: any(map(reports, scene.proxy.rpcs())), 60,
             0.2)
    first = reported_names(next(filter(reports, scene.proxy.rpcs())))

    def is_repeated():
        client.update(scene.master)
        again = [name for exchange in filter(reports, scene.proxy.rpcs())
                 for name in reported_names(exchange)]
        return again.count(first[0]) >= 2
    wait_for("the report again", is_repeated, 90, 2)
    scene.wait_for_valid(2)
    expect_counted_once(scene)
    return f"{first[0]} was reported twice and counted once"


def test_copied_folder(stage):
    """Two clients of one folder are two hosts."""
    scene = Scene(stage)
    client = scene.client()
    scene.wait_for_valid(1)
    client.stop()
    shutil.copytree(client.folder, stage.folder / "copy")
    client.start()
    scene.wait_for_valid(4)
    copy = StockBoinc(stage, "copy", client.setup,
                      folder=stage.folder / "copy").start()
    wait_for("another host", lambda: len(scene.hosts()) == 2, 60, 0.5)

    def both_work():
        by_host = [sum(row["host"] == host["id"] for row in scene.valid())
                   for host in scene.hosts()]
        return min(by_host) >= 2
    wait_for("valid results of both", both_work, 90, 0.5)
    expect(not scene.rows(validate_state="invalid"), "a result is invalid")
    copy.stop()
    expect_counted_once(scene)
    return "a copied folder is another host, with a key of its own"


def test_kills(stage):
    """kill -9 of client and server, in turn, while it computes."""
    scene = Scene(stage)
    client = scene.client()
    for round_ in range(2):
        scene.wait_for_valid(2 * round_ + 1)
        client.kill()
        stage.expect_only([process for process in stage.processes
                           if process.is_running()])
        client.start()
        before = len(scene.valid())
        scene.server.kill()
        scene.server.start()
        scene.wait_with_retries("another valid result",
                                lambda: len(scene.valid()) > before, client)
    expect(not scene.rows(validate_state="invalid"), "a result is invalid")
    expect_counted_once(scene)
    return f"{len(scene.valid())} results through four kills"


def test_key_rotation(stage):
    scene = Scene(stage)
    client = scene.client()
    scene.wait_for_valid(1)
    scene.project.order("boinc", "key", "rotate")
    with_key = re.compile(r"<code_sign_key>(.*?)</code_sign_key>", re.S)

    def has_new_key():
        client.update(scene.master)
        keys = {"".join(found.split()) for exchange in scene.proxy.rpcs()
                for found in with_key.findall(
                    exchange.body.decode(errors="replace"))}
        return len(keys) == 2
    wait_for("a client with the new key", has_new_key, 60, 2)
    before = len(scene.valid())
    scene.wait_for_valid(before + 2)
    for words in ("Missing code sign key", "doesn't validate"):
        expect(words not in client.text(), f"the client says: {words}")
    return "a client takes the next key and goes on"


CUDA_STUB = """
#include <stddef.h>
#include <string.h>
typedef int R;
R cuInit(unsigned f) { return 0; }
R cuDriverGetVersion(int* v) { *v = 13000; return 0; }
R cuDeviceGetCount(int* n) { *n = 1; return 0; }
R cuDeviceGet(int* d, int n) { *d = n; return 0; }
R cuDeviceGetName(char* s, int n, int d) {
  strncpy(s, "Stub GPU 9000", n); return 0;
}
R cuDeviceGetAttribute(int* v, int a, int d) { *v = 16; return 0; }
R cuDeviceComputeCapability(int* a, int* b, int d) {
  *a = 8; *b = 6; return 0;
}
R cuDeviceTotalMem(size_t* n, int d) { *n = 8ul << 30; return 0; }
R cuDeviceTotalMem_v2(size_t* n, int d) { *n = 8ul << 30; return 0; }
R cuCtxCreate(void** c, unsigned f, int d) { *c = 0; return 0; }
R cuCtxCreate_v2(void** c, unsigned f, int d) { *c = 0; return 0; }
R cuCtxDestroy(void* c) { return 0; }
R cuCtxDestroy_v2(void* c) { return 0; }
R cuMemAlloc(void** p, unsigned n) { return 1; }
R cuMemFree(void* p) { return 0; }
R cuMemGetInfo(unsigned* f, unsigned* t) { *f = *t = 1u << 30; return 0; }
R cuMemGetInfo_v2(size_t* f, size_t* t) { *f = *t = 8ul << 30; return 0; }
"""


def stub_gpu(stage):
    """A folder with a driver library that knows one GPU."""
    folder = stage.folder / "stub"
    folder.mkdir()
    source = folder / "cuda.c"
    source.write_text(CUDA_STUB)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "libcuda.so",
                    source], check=True, timeout=60)
    return folder


def test_gpu(stage):
    """A client with a GPU gets work for it. The GPU is a stub, so the task
    cannot succeed; the CPU's tasks do beside it."""
    scene = Scene(stage)
    if "cuda" not in scene.project.order("boinc", "app", "list"):
        scene.project.order("boinc", "app", "add", "--devices", "cpu,cuda",
                            stage.program("quorate-worker"))
    client = scene.client(
        has_gpus=True, prefix=(f"LD_LIBRARY_PATH={stub_gpu(stage)}",))

    def has_failed():
        client.update(scene.master)
        return scene.rows(outcome="client_error")
    wait_for("a task on the stub GPU", has_failed, 90, 2)
    expect("Stub GPU 9000" in client.text(), "the client sees no GPU")
    sent = "".join(exchange.reply.decode() for exchange in scene.proxy.rpcs())
    expect("<plan_class>cuda</plan_class>" in sent and
           "<type>NVIDIA</type>" in sent, "no version for the GPU was sent")
    started = re.findall(r"Starting task (r\d+)", client.text())
    failed = [f"r{row['id']}" for row in scene.rows(outcome="client_error")]
    expect(set(failed) <= set(started), f"{failed} were never started")

    def has_valid():
        client.update(scene.master)  # after an error clients put requests off
        return scene.valid()
    wait_for("a valid result of the CPU", has_valid, 90, 2)
    reason = scene.rows(outcome="client_error")[0]["reason"]
    return f"a GPU's task was sent and started ({reason[-60:]})"


def test_wrong_clock(stage):
    """A client whose clock is an hour ahead, or behind, works like others."""
    if shutil.which("faketime") is None:
        raise Skip("needs faketime: apt-get install faketime")
    scene = Scene(stage)
    for name, shift in (("early", "-1h"), ("late", "+1h")):
        scene.client(name, prefix=("faketime", "-f", shift))

    def both_work():
        hosts = scene.hosts()
        return len(hosts) == 2 and all(host["valid"] >= 2 for host in hosts)
    wait_for("valid results of both", both_work, 90, 0.5)
    expect(not scene.rows(outcome="no_reply"), "a result was given up")
    expect_counted_once(scene)
    return "clocks an hour off do no harm"


def test_late(stage):
    """A client that was away longer than its lease: another gets its units, and
    what it brings later is judged, or not needed, and counted once."""
    scene = Scene(stage, boinc_lease=8)
    client = scene.client()
    wait_for("a first task", lambda: "Starting task" in client.text(), 60, 0.1)
    client.kill()
    away = [row["id"] for row in scene.rows(outcome="init") if row["host"]]
    wait_for("an end of its leases",
             lambda: not scene.rows(server_state="in_progress"), 60, 0.5)
    client.start()
    before = len(scene.valid())
    scene.wait_with_retries("valid results again",
                            lambda: len(scene.valid()) >= before + 2, client)
    expect_counted_once(scene)
    expect(not scene.rows(validate_state="invalid"), "a result is invalid")
    return f"{len(away)} results were late; nothing is counted twice"


if __name__ == "__main__":
    run(__doc__, test_thanks, test_unknown_key, test_tampered_program,
        test_tampered_input, test_cut_download, test_cut_upload,
        test_refused_upload, test_abort, test_lost_reply, test_lost_thanks,
        test_copied_folder, test_kills, test_key_rotation, test_gpu,
        test_wrong_clock, test_late, at_once=True)
