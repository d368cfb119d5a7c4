# ruff: noqa: E501
"""Programs that inspect or use the system: signals, processes, descriptors, threads, sockets."""

from __future__ import annotations

from benchmarks.faults.snippets.base import SAMPLING, Snippet, each

_F = "@P\ndef f(n=0):\n    end = time.perf_counter() + 0.02\n    while time.perf_counter() < end: pass\n    return n\n"
"""A function that works for 20 ms."""
_SIGNALS = {
    "alarm": "import signal\nsignal.signal(14, lambda *a: print('alarm'))\n"
    + _F
    + "signal.setitimer(0, 0.01); f(); time.sleep(0.01)",
    "timer-counts": "import signal\nhits = []\nsignal.signal(14, lambda *a: hits.append(1))\n"
    + _F
    + "signal.setitimer(0, 0.005, 0.005)\nfor i in range(5): f()\nsignal.setitimer(0, 0); print(len(hits) > 5)",
    "profiling-timer": "import signal\nhits = []\nsignal.signal(27, lambda *a: hits.append(1))\nsignal.setitimer(2, 0.01, 0.01)\n"
    + _F
    + "for i in range(5): f()\nsignal.setitimer(2, 0); print(len(hits) > 0)",
    "sigchld": "import signal, subprocess\nhits = []\nsignal.signal(17, lambda *a: hits.append(1))\n"
    + _F
    + "f(); print(hits); subprocess.run(['true']); f(); print(hits)",
    "handler-raises": "import signal\nclass E(Exception): pass\ndef h(*a): raise E\nsignal.signal(10, h)\n"
    + _F
    + "try:\n    signal.raise_signal(10)\nexcept E: print('raised')\nprint(f(1))",
    "handlers-unchanged": "import signal\n"
    + _F
    + "before = {n: str(signal.getsignal(n)) for n in (1, 2, 3, 13, 15, 17)}\nf()\n"
    "print(before == {n: str(signal.getsignal(n)) for n in before})",
    "mask-unchanged": "import signal\nsignal.pthread_sigmask(0, {2, 17})\n"
    + _F
    + "f(); print(sorted(signal.pthread_sigmask(0, ())))",
    "sigwait": "import signal\nsignal.pthread_sigmask(0, {10})\n"
    + _F
    + "f(); os.kill(os.getpid(), 10); print(signal.sigwait({10}))",
    "wakeup-fd": "import signal\nr, w = os.pipe(); os.set_blocking(w, False)\nsignal.set_wakeup_fd(w); signal.signal(10, lambda *a: None)\n"
    + _F
    + "f(); os.kill(os.getpid(), 10); print(os.read(r, 9)); signal.set_wakeup_fd(-1)",
    "ignored-sigchld": "import signal\nsignal.signal(17, signal.SIG_IGN)\n" + _F + "print(f(1))",
    "ignored-sigint": "import signal\nsignal.signal(2, signal.SIG_IGN)\n"
    + _F
    + "f(); os.kill(os.getpid(), 2); print(f(1))",
    "pending": "import signal\nsignal.pthread_sigmask(0, {10}); os.kill(os.getpid(), 10)\n"
    + _F
    + "f(); print(signal.sigpending())",
}
_PROCESSES = {
    "subprocess": "import subprocess\n@P\ndef f(): return subprocess.run(['echo', 'hi'], capture_output=True, text=True).stdout\nprint(f(), end='')",
    "wait-all": _F
    + "import subprocess\nf(); p = [os.posix_spawn('/bin/true', ['true'], {}) for _ in range(3)]\nn = 0\ntry:\n    while True: os.wait(); n += 1\n"
    "except ChildProcessError: print(n)",
    "waitpid-any": _F
    + "f()\npid = os.posix_spawn('/bin/sh', ['sh', '-c', 'exit 3'], {})\nprint(os.waitpid(-1, 0) == (pid, 768))",
    "fork": _F
    + "f()\npid = os.fork()\nif not pid: print('child', f(2), flush=True); os._exit(0)\nos.waitpid(pid, 0); print('parent', f(1))",
    "fork-in-call": "@P\ndef f():\n    pid = os.fork()\n    if not pid: os._exit(9)\n    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])\nprint(f())",
    "child-falls-off": _F
    + "f(); sys.stdout.flush()\npid = os.fork()\nif pid: os.waitpid(pid, 0)\nprint('child' if not pid else 'parent')",
    "daemon": _F
    + "f(); r, w = os.pipe()\nif not os.fork():\n    os.setsid()\n    if os.fork(): os._exit(0)\n    f(); os.write(w, b'done'); os._exit(0)\n"
    "os.wait(); print(os.read(r, 9), f(3))",
    "system": _F + "f(); sys.stdout.flush(); print(os.system('echo from sh; exit 2') >> 8)",
    "pool": "import multiprocessing as m\n"
    + _F
    + "if __name__ == '__main__':\n    f()\n    with m.get_context('fork').Pool(2) as p: print(p.map(f, range(4)))",
    "process": "import multiprocessing as m\n"
    + _F
    + "if __name__ == '__main__':\n    f(); p = m.get_context('fork').Process(target=f); p.start(); p.join(); print(p.exitcode)",
    "executor": "from concurrent.futures import ProcessPoolExecutor as E\nimport multiprocessing as m\n"
    + _F
    + "if __name__ == '__main__':\n    with E(2, mp_context=m.get_context('fork')) as e: print(list(e.map(f, range(4))))",
    "child-descriptors": _F
    + "import subprocess\nf(); sys.stdout.flush()\nprint(subprocess.run('ls /proc/self/fd | wc -l', shell=True, close_fds=False, capture_output=True).stdout)",
    "identity": _F
    + "before = os.getpid(), os.getppid(), os.getpgid(0), os.getsid(0), os.getpriority(0, 0)\nf(1)\n"
    "print(before == (os.getpid(), os.getppid(), os.getpgid(0), os.getsid(0), os.getpriority(0, 0)))",
    "children-listed": _F
    + "f(); time.sleep(0.05); print(open(f'/proc/self/task/{os.getpid()}/children', encoding='ascii').read().split())",
    "asyncio-subprocess": "import asyncio\n"
    + _F
    + "async def m():\n    p = await asyncio.create_subprocess_exec('echo', 'hi', stdout=-1); f()\n"
    "    print((await p.communicate())[0])\nasyncio.run(m())",
    "times-of-children": _F + "f(); time.sleep(0.05); print(os.times().children_user < 0.2)",
}
_DESCRIPTORS = {
    "closerange": _F + "f(); os.closerange(3, 256); print(f(1), f(2))",
    "close-stdin": _F + "os.close(0); print(f(1))",
    "close-stderr": _F + "os.close(2); print(f(1))",
    "close-all-standard": _F
    + "keep = os.dup(1)\nfor n in (0, 1, 2): os.close(n)\nf(); os.write(keep, b'kept\\n'); os._exit(0)",
    "dup2": _F
    + "f(); d = os.open('file', os.O_CREAT | os.O_RDWR); os.dup2(d, 9); f(); os.write(9, b'x'); print(os.path.getsize('file'))",
    "next-descriptor": _F + "n = os.dup(0); os.close(n); f(); m = os.dup(0); print(m - n)",
    "few-descriptors": "import resource\n"
    + _F
    + "f(); resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16)); print(f(1), f(2))",
    "no-descriptor": "import resource\n"
    + _F
    + "n = len(os.listdir('/proc/self/fd')) - 1\nresource.setrlimit(resource.RLIMIT_NOFILE, (n, n)); print(f(1), f(2))",
    "high-descriptor": "import resource\n"
    + _F
    + "d = os.dup2(0, 200, inheritable=True)\nresource.setrlimit(resource.RLIMIT_NOFILE, (64, 256)); print(f(1))",
    "pipes": _F
    + "r, w = os.pipe(); f(); os.write(w, b'abc'); print(os.read(r, 9)); os.close(w); print(os.read(r, 9))",
    "temporary-files": "import tempfile\n"
    + _F
    + "with tempfile.TemporaryDirectory() as d: f(); print(os.listdir(d))",
    "stdout-replaced": "import io\n"
    + _F
    + "old, sys.stdout = sys.stdout, io.StringIO(); f(); print('caught'); text = sys.stdout.getvalue(); sys.stdout = old; print(text)",
}
_THREADS = {
    "thread": "import threading\n"
    + _F
    + "t = [threading.Thread(target=f) for _ in range(3)]\n[x.start() for x in t]; [x.join() for x in t]; print('joined')",
    "thread-pool": "from concurrent.futures import ThreadPoolExecutor as E\n"
    + _F
    + "with E(3) as e: print(list(e.map(f, range(6))))",
    "daemon-thread": "import threading\n"
    + _F
    + "def loop():\n    while True: f()\nthreading.Thread(target=loop, daemon=True).start(); time.sleep(0.05); print('main')",
    "thread-local": "import threading\nlocal = threading.local()\n@P\ndef f(n): local.n = n; return local.n\nt = threading.Thread(target=f, args=(1,)); t.start(); t.join(); print(hasattr(local, 'n'))",
    "lock-held": "import threading\nlock = threading.RLock()\n@P\ndef f():\n    with lock: return 1\nwith lock: print(f())",
    "timer": "import threading\n"
    + _F
    + "t = threading.Timer(0.01, lambda: print(f(7))); t.start(); t.join()",
    "outlives-main": "import threading\n"
    + _F
    + "threading.Thread(target=lambda: (time.sleep(0.05), print('thread', f(1)))).start(); print('main')",
    "queue": "import queue, threading\n"
    + _F
    + "q = queue.Queue()\nthreading.Thread(target=lambda: q.put(f(3))).start(); print(q.get(timeout=9))",
    "thread-hook": "import threading\nthreading.excepthook = lambda a: print('hook', a.exc_value)\n@P\ndef f(): raise ValueError(1)\nt = threading.Thread(target=f); t.start(); t.join()",
}
_THREAD_NAMES = {
    "thread-names": "import threading\n"
    + _F
    + "f(); print([t.name for t in threading.enumerate()], threading.active_count())",
}
_KERNEL_TIMEOUTS = {
    "receive-timeout": "import socket, struct\na, b = socket.socketpair()\na.setsockopt(1, 20, struct.pack('ll', 0, 100_000))\n@P\ndef f():\n    t = time.monotonic()\n"
    "    try: a.recv(1)\n    except BlockingIOError: return time.monotonic() - t < 2\nprint(f())",
}
_SOCKETS = {
    "socketpair": "import socket\n"
    + _F
    + "a, b = socket.socketpair(); a.sendall(b'hi'); f(); print(b.recv(9)); a.close(); print(b.recv(9))",
    "python-timeout": "import socket\na, b = socket.socketpair(); a.settimeout(0.1)\n@P\ndef f():\n    try: a.recv(1)\n    except TimeoutError: return 'timeout'\nprint(f())",
    "select-timeout": "import select\nr, w = os.pipe()\n@P\ndef f(): t = time.monotonic(); x = select.select([r], [], [], 0.1); return x, time.monotonic() - t < 2\nprint(f())",
    "server": "import http.server, threading, urllib.request\n@P\ndef body(): return b'page'\nclass H(http.server.BaseHTTPRequestHandler):\n"
    "    def do_GET(self): self.send_response(200); self.end_headers(); self.wfile.write(body())\n    def log_message(self, *a): pass\n"
    "s = http.server.HTTPServer(('127.0.0.1', 0), H); threading.Thread(target=s.handle_request).start()\n"
    "print(urllib.request.urlopen(f'http://127.0.0.1:{s.server_port}/').read()); s.server_close()",
}

SNIPPETS: dict[str, Snippet] = {
    **each(_SIGNALS),
    **each(_PROCESSES),
    **each(_DESCRIPTORS, SAMPLING, warnings=2),
    **each(_THREADS),
    **each(_THREAD_NAMES, SAMPLING),  # `threading` knows the thread of measured functions
    **each(_KERNEL_TIMEOUTS, warnings=1),
    **each(_SOCKETS),
}
