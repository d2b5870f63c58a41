"""dev/prove-run: a command that stays and answers holds; one that ends, is silent or does not stop does not."""

import sys

import pytest

STAND_IN = """
import http.server, json, signal, sys, threading
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
links = {links}
def answering(status):
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps({{"members": [0] * 5, "pushes": [0] * {pushes}}}).encode())
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(links.pop(0))
            self.end_headers()
        def log_message(self, *arguments): pass
    server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port
print("Everything is running; Ctrl-C ends it.", flush=True)
api = answering({answer})
print(f"  HTTP API     http://127.0.0.1:{{api}}   (GET /healthz)", flush=True)
if sys.stdout.isatty() and links: print(f"  http://127.0.0.1:{{api}}/console/#link=abc   (good once)", flush=True)
print(f"  backend      http://127.0.0.1:{{answering({backend})}}   (where the app signs in)", flush=True)
signal.sigwait([signal.SIGINT])
sys.exit({status})
"""


def stand_in(answer=200, status=0, backend=200, links=(200, 401), pushes=2):
    text = STAND_IN.format(answer=answer, status=status, backend=backend, links=list(links), pushes=pushes)
    return ["dev/prove-run", sys.executable, "-c", text]


def test_one_that_stays_answers_and_ends_holds(run):
    result = run(*stand_in())
    assert result.returncode == 0, result.stderr
    assert "prove-run: held" in result.stdout


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (["dev/prove-run", "echo", "bye"], "ended before everything was running"),
        (["dev/prove-run", "bash", "-c", "echo Everything is running; sleep 60"], "printed no address"),
        (stand_in(answer=503), "nobody answers"),
        (stand_in(backend=503), "nobody answers"),
        (stand_in(status=3), "ended with status 3"),
        (stand_in(links=()), "no link to the console"),
        (stand_in(links=(200, 200)), "answered by 200 200"),
        (stand_in(links=(401, 401)), "answered by 401 401"),
        (stand_in(pushes=0), "5 members, and there are 0 pushes"),
    ],
)
def test_what_does_not_do_as_promised_is_named(run, command, complaint):
    result = run(*command)
    assert result.returncode == 1
    assert complaint in result.stderr
