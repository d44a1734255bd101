package modeltest

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"harness/model"
	"harness/model/wire"
)

// faults are scripts and how they end.
var faults = []struct {
	name, script string
	want         model.Fault
	shown        string // text that was seen before
}{
	{"RateLimit", "header Retry-After: 3600\nstatus 429 Slow down.", model.RateLimited, ""},
	{"Overload529", "status 529 Overloaded", model.Overloaded, ""},
	{"Overload503", "status 503 Overloaded", model.Overloaded, ""},
	{"ServerError", "status 500 Oops", model.ServerError, ""},
	{"WrongKey", "status 401 invalid key " + Key, model.Auth, ""},
	{"BadRequest", "status 400 tools.0: no such field", model.BadRequest, ""},
	{"UnknownModel", "status 404 no such model", model.BadRequest, ""},
	{"TooLong", "status 400 prompt is too long: 210000 tokens > 200000 maximum", model.ContextTooLong, ""},
	{"TooLarge", "status 413 too large", model.ContextTooLong, ""},
	{"ErrorThatIsNotJSON", "type text/html\nstatus 502 x", model.ServerError, ""},
	{"Redirect", "header Location: http://127.0.0.1:9/\nstatus 307 there", model.BadRequest, ""},
	{"ErrorInTheMiddle", "say Half\nerror overloaded_error Overloaded", model.Overloaded, "Half"},
	{"LimitInTheMiddle", "say Half\nerror rate_limit_exceeded Too fast", model.RateLimited, "Half"},
	{"CutBeforeAnything", "drop", model.CutOff, ""},
	{"CutInText", "say Half\ndrop", model.CutOff, "Half"},
	{"CutInToolArguments", "say Half\npart bash \"{\\\"command\\\":\\\"rm -r\"\ndrop", model.CutOff, "Half"},
	{"EndWithoutItsEvents", "say Half\nend", model.CutOff, "Half"},
	{"EndInToolArguments", "part bash \"{\\\"command\\\":\\\"rm -r\"\nend", model.CutOff, ""},
	{"GarbageInTheMiddle", "say Half\nraw \"event: content_block_delta\\ndata: {\\\"type\\\":\\x00\\n\\n\"", model.ServerError, "Half"},
	{"WrongContentType", "type text/html\nraw <html>hello</html>", model.ServerError, ""},
	{"Refusal", "say I\nstop refusal", model.Refused, "I"},
}

func testFaults(t *testing.T, open func(testing.TB, Target) model.Client, on opener) {
	for _, f := range faults {
		t.Run("Fault/"+f.name, func(t *testing.T) {
			t.Parallel()
			c, s := on(t, f.script)
			a, err := Ask(t, c, Prompt("hi"))
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Fault != f.want || e.Provider == "" {
				t.Fatalf("ended with %v (%+v), want %s", err, e, f.want)
			}
			if a.Text() != f.shown || len(a.Calls()) != 0 || a.Stop != "" {
				t.Errorf("got %q, %v, %q", a.Text(), a.Calls(), a.Stop)
			}
			if strings.Contains(err.Error(), Key) {
				t.Errorf("the key is in the error: %v", err)
			}
			if len(s.Requests()) != 1 {
				t.Errorf("asked %d times", len(s.Requests()))
			}
			if f.want == model.RateLimited && f.shown == "" && e.RetryAfter != time.Hour {
				t.Errorf("waits %s", e.RetryAfter)
			}
		})
	}
	t.Run("Fault/NoiseIsNotAnAnswer", func(t *testing.T) {
		t.Parallel()
		c, _ := on(t, "say Half\ngarbage\nend")
		a, err := Ask(t, c, Prompt("hi"))
		e, ok := errors.AsType[*model.Error](err)
		if !ok || !e.Transient() || a.Text() != "Half" {
			t.Errorf("got %q, %v", a.Text(), err)
		}
	})
	t.Run("Fault/Unreachable", func(t *testing.T) {
		t.Parallel()
		s := Serve(t, "say hi")
		c := open(t, Target{URL: "http://127.0.0.1:1"})
		_, err := Ask(t, c, Prompt("hi"))
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Fault != model.Unreachable || len(s.All()) != 0 {
			t.Errorf("ended with %v", err)
		}
	})
	for name, script := range map[string]string{"BeforeTheAnswer": "pause", "AfterTheHeaders": "ping\npause", "InTheMiddle": "say Half\npause", "InACall": "part bash {\npause"} {
		t.Run("Fault/TenMinutesOfSilence"+name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { testSilence(t, open, script) })
		})
	}
	t.Run("APingIsNotSilence", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c := piped(t, open, "slow 50s\nping\nping\nsay x")
			if a, err := Ask(t, c, Prompt("hi")); err != nil || a.Text() != "x" {
				t.Errorf("got %q, %v", a.Text(), err)
			}
		})
	})
	t.Run("RetriesEndAndSaySo", func(t *testing.T) { testRetries(t, on) })
}

// piped opens a client in a bubble.
func piped(t *testing.T, open func(testing.TB, Target) model.Client, script string) model.Client {
	t.Helper()
	parsed, err := Parse(script)
	if err != nil {
		t.Fatal(err)
	}
	s := New(parsed)
	var hc *http.Client
	t.Cleanup(func() {
		hc.CloseIdleConnections()
	})
	dial := Pipe(t, s)
	t.Cleanup(s.Close)
	hc = wire.NewHTTP(&wire.Options{Dial: dial, First: 90 * time.Second, Idle: 90 * time.Second})
	return open(t, Target{URL: "http://model.test", HTTP: hc})
}

func testSilence(t *testing.T, open func(testing.TB, Target) model.Client, script string) {
	c := piped(t, open, script)
	begin := time.Now()
	a, err := Ask(t, c, Prompt("hi"))
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Fault != model.TimedOut {
		t.Errorf("ended with %v after %q", err, a.Text())
	}
	if d := time.Since(begin); d < 90*time.Second || d > 2*time.Minute {
		t.Errorf("after %s", d)
	}
}

func testRetries(t *testing.T, on opener) {
	t.Parallel()
	quick := &model.RetryOptions{Base: time.Millisecond, Max: time.Millisecond}
	for _, c := range []struct {
		name, script string
		text         string
		asked, notes int
		fault        model.Fault
	}{
		{"AFaultThatPasses", "when request 1\n status 529 Overloaded\nwhen request 2\n drop\nelse\n say hi", "hi", 3, 2, ""},
		{"AFaultThatStays", "status 500 Oops", "", 3, 2, model.ServerError},
		{"AFaultThatIsOurs", "status 400 no", "", 1, 0, model.BadRequest},
		{"AWaitThatIsTooLong", "header Retry-After: 3600\nstatus 429 Slow down.", "", 1, 0, model.RateLimited},
		{"AfterSomethingWasShown", "say Half\ndrop", "Half", 1, 0, model.CutOff},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client, s := on(t, c.script)
			a, err := Ask(t, noteCounter{model.Retry(client, quick), c.notes, t}, Prompt("hi"))
			fault := model.Fault("")
			if e, ok := errors.AsType[*model.Error](err); ok {
				fault = e.Fault
			}
			if a.Text() != c.text || len(s.Requests()) != c.asked || fault != c.fault {
				t.Errorf("got %q, %v, asked %d times", a.Text(), err, len(s.Requests()))
			}
		})
	}
}
