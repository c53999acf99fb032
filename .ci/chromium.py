"""Drives Chromium, without a display, over the DevTools protocol (https://chromedevtools.github.io/devtools-protocol).

Chromium reads the commands from a pipe, so nothing is needed besides Python and Chromium itself."""
import base64, itertools, json, os, pathlib, queue, shutil, subprocess, tempfile, threading

# How long to wait for what should come soon. Reaching it means a failure.
PATIENCE = 180


class Failure(Exception):
    pass


class Chromium:
    def __init__(self):
        program = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
        if program is None: raise Failure("there is no Chromium here")
        self.folder = tempfile.mkdtemp()
        inbound, self.outbound = os.pipe()
        self.inbound, outbound = os.pipe()

        def use_pipes():
            # Chromium wants them under the numbers 3 and 4. They are moved out of the way first.
            source, sink = os.dup2(inbound, 100), os.dup2(outbound, 101)
            os.dup2(source, 3)
            os.dup2(sink, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self.folder}", "--no-first-run",
             "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--hide-scrollbars",
             "--force-device-scale-factor=1", "--lang=en-GB"] + (["--no-sandbox"] if os.getuid() == 0 else []),
            preexec_fn=use_pipes, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(inbound)
        os.close(outbound)
        self.numbers, self.answers, self.listeners = itertools.count(1), {}, {}
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        rest = b""
        while chunk := os.read(self.inbound, 1 << 16):
            *messages, rest = (rest + chunk).split(b"\0")
            for message in map(json.loads, messages):
                if "id" in message: self.answers.pop(message["id"]).put(message)
                elif listener := self.listeners.get(message.get("sessionId")): listener(message)

    def call(self, method, session=None, **parameters):
        number, answer = next(self.numbers), queue.Queue()
        self.answers[number] = answer
        message = {"id": number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        data = json.dumps(message).encode() + b"\0"
        while data: data = data[os.write(self.outbound, data):]
        try: reply = answer.get(timeout=PATIENCE)
        except queue.Empty: raise Failure(f"Chromium does not answer {method}")
        if "error" in reply: raise Failure(f"{method}: {reply['error']}")
        return reply["result"]

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


# The keys that are no characters, with the codes that Chromium wants.
KEYS = {"Enter": 13, "Escape": 27, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38,
        "ArrowRight": 39, "ArrowDown": 40, "Tab": 9}


class Page:
    """One tab. What the page says that is wrong is collected in `errors`; whatever it loads, in `requests`."""

    def __init__(self, browser, width=1280, height=860, dark=False, scale=1):
        self.browser, self.errors, self.requests = browser, [], []
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.target = target
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        browser.listeners[self.session] = self.hear
        for domain in ["Page", "Runtime", "Log", "Network"]: self.call(f"{domain}.enable")
        self.resize(width, height, scale)
        self.paint(dark)

    def call(self, method, **parameters): return self.browser.call(method, self.session, **parameters)

    def hear(self, message):
        method, given = message["method"], message["params"]
        if method == "Runtime.exceptionThrown":
            details = given["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and given["type"] in ["error", "warning", "assert"]:
            self.errors.append(" ".join(str(one.get("value", one.get("description"))) for one in given["args"]))
        elif method == "Log.entryAdded" and given["entry"]["level"] in ["error", "warning"]:
            self.errors.append(given["entry"]["text"])
        elif method == "Network.requestWillBeSent": self.requests.append(given["request"]["url"])

    def resize(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def paint(self, dark):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                            {"name": "prefers-reduced-motion", "value": "reduce"}])

    def open(self, address):
        # A page that is left may complain about what it was just loading.
        self.call("Page.navigate", url=address)
        self.wait(f"location.href.startsWith({json.dumps(address)}) && document.readyState === 'complete'")

    def evaluate(self, script):
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Failure(f"{script}: {details.get('exception', {}).get('description', details['text'])}")
        return result["result"].get("value")

    def wait(self, condition, what=None):
        """Waits until a condition in JavaScript holds."""
        script = f"""new Promise(resolve => {{
          const end = performance.now() + {PATIENCE * 500}
          const check = () => {{
            let holds = false
            try {{ holds = Boolean({condition}) }} catch {{}}
            if (holds || performance.now() > end) resolve(holds)
            else setTimeout(check, 15)
          }}
          check()
        }})"""
        if not self.evaluate(script): raise Failure(f"never came: {what or condition}")

    def key(self, name, times=1):
        for _ in range(times):
            code = KEYS.get(name)
            given = {"key": name, "code": name, "windowsVirtualKeyCode": code} if code else {"key": name, "text": name}
            if name == "Enter": given["text"] = "\r"
            self.call("Input.dispatchKeyEvent", type="keyDown", **given)
            self.call("Input.dispatchKeyEvent", type="keyUp", **{k: v for k, v in given.items() if k != "text"})

    def type(self, text): self.call("Input.insertText", text=text)

    def click(self, selector):
        place = self.evaluate(f"""(() => {{
          const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect()
          return [box.x + Math.min(box.width / 2, 60), box.y + box.height / 2]
        }})()""")
        for kind in ["mousePressed", "mouseReleased"]:
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def accessible(self):
        """What a screen reader gets: pairs of role and name, with the properties."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [(node["role"]["value"], node.get("name", {}).get("value", ""),
                 {one["name"]: one["value"].get("value") for one in node.get("properties", [])})
                for node in nodes if not node["ignored"]]

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
