"""A class that repeats whatever it was trusted with; it runs in a process without anything of ours."""

HOSTILE = "<script>alert(1)</script> **bold**"


class Tattler:
    """An application that repeats whatever it was trusted with."""

    def OpenConnection(self, auth=None):
        self.auth, self.said = auth or {}, []
        return True

    def CloseConnection(self):
        return True

    def GetVersion(self):
        return "1"

    def StartSession(self):
        return True

    def GetResponse(self, text):
        if text == "fail":
            message = f"broken with {self.auth}"
            raise RuntimeError(message)
        self.said.append(text)
        return {"success": True, "response": f"{HOSTILE} key {self.auth.get('key')} heard {' + '.join(self.said)}"}
