package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// base answers requests with a fixed status and header, and remembers what it saw.
type base struct {
	status   int
	header   http.Header
	err      error
	sent     int
	deadline time.Duration
}

func (b *base) RoundTrip(req *http.Request) (*http.Response, error) {
	b.sent++
	if at, ok := req.Context().Deadline(); ok {
		b.deadline = time.Until(at)
	}
	if b.err != nil {
		return nil, b.err
	}
	return &http.Response{
		StatusCode: b.status, Header: b.header, Request: req,
		Body: &body{Reader: strings.NewReader("reply"), ctx: req.Context()},
	}, nil
}

// body can be read as long as its request's context lives, as with a real connection.
type body struct {
	io.Reader
	ctx context.Context
}

func (b *body) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.Reader.Read(p)
}

func (b *body) Close() error { return nil }

type closed struct {
	io.Reader
	times int
}

func (c *closed) Close() error {
	c.times++
	return nil
}

type log struct{ lines []string }

func (l *log) Done(c Call, r Result) {
	text := c.String()
	switch {
	case r.Limited:
		text += " limited"
	case r.Status == 0:
		text += " no reply"
	default:
		text += " " + http.StatusText(r.Status)
	}
	l.lines = append(l.lines, text)
}

func (l *log) Throttled(c Call, r Result) {
	l.lines = append(l.lines, c.String()+" throttled with "+http.StatusText(r.Status))
}

func request(ctx context.Context, t *testing.T, c Call) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(WithCall(ctx, c), http.MethodPost, "http://cloud.example/", strings.NewReader("ask"))
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// send sends one request and returns its result as text.
func send(ctx context.Context, t *testing.T, transport *Transport, c Call) error {
	t.Helper()
	reply, err := transport.RoundTrip(request(ctx, t, c))
	if err != nil {
		return err
	}
	if text, err := io.ReadAll(reply.Body); err != nil || string(text) != "reply" {
		t.Errorf("want the whole reply, got %q, %v", text, err)
	}
	return reply.Body.Close()
}

func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := &base{status: http.StatusOK}
		seen := &log{}
		transport := New(Options{Base: answers, Hook: seen, Budgets: func(c Call) []Budget {
			return []Budget{{Key: c.Service + c.Account, Burst: 2, PerSecond: 0.5}}
		}})
		read := Call{Service: "s", Operation: "Read", Account: "a"}
		for range 2 {
			if err := send(t.Context(), t, transport, read); err != nil {
				t.Fatalf("want the burst to be sent, got %v", err)
			}
		}
		start := time.Now()
		err := send(t.Context(), t, transport, read)
		var held *RateLimitedError
		if !errors.As(err, &held) || held.After != 2*time.Second {
			t.Fatalf("want the third to be held back for 2s, got %v", err)
		}
		if waited := time.Since(start); waited != 0 {
			t.Errorf("want no waiting for a budget, got %s", waited)
		}
		other := Call{Service: "s", Operation: "Read", Account: "b"}
		if err := send(t.Context(), t, transport, other); err != nil {
			t.Errorf("want another account's budget to be its own, got %v", err)
		}
		time.Sleep(held.After)
		if err := send(t.Context(), t, transport, read); err != nil {
			t.Errorf("want a call to be sent once the time that was named has passed, got %v", err)
		}
		want := []string{"s:Read OK", "s:Read OK", "s:Read limited", "s:Read OK", "s:Read OK"}
		if diff := cmp.Diff(want, seen.lines); diff != "" {
			t.Errorf("what the hook was told (-want +got):\n%s", diff)
		}
		if answers.sent != 4 {
			t.Errorf("want 4 requests on the wire, got %d", answers.sent)
		}
	})
}

// A list has more pages than its budget gains between two tries: it waits for room for all of them, and is then read to its end.
func TestListsAreReadToTheirEnd(t *testing.T) {
	page := Call{Service: "s", Operation: "List", ReadOnly: true}
	for _, c := range []struct {
		why string
		// before are the pages of the list before, expected and pages those of the list.
		before, expected, pages int
		want                    time.Duration
	}{
		{"the bucket is full", 0, 8, 8, 0},
		{"two tokens are left of eight that are needed", 8, 8, 8, 30 * time.Second},
		{"a list that is longer than expected is not cut off", 8, 2, 8, 0},
		{"pages beyond those expected count", 14, 2, 2, 30 * time.Second},
		{"more pages than the bucket holds wait for a full one", 5, 30, 30, 25 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			transport := New(Options{Base: &base{status: http.StatusOK}, Budgets: func(Call) []Budget {
				return []Budget{{Key: "list", Burst: 10, PerSecond: 0.2, Sole: true}}
			}})
			list := func(expected, pages int) time.Duration {
				ctx, of := Paged(t.Context(), expected)
				for range pages {
					err := send(ctx, t, transport, page)
					if held := (*RateLimitedError)(nil); errors.As(err, &held) {
						if of.Sent() > 0 {
							t.Fatalf("%s: want no list held back in its midst, got %v after %d pages", c.why, err, of.Sent())
						}
						return held.After
					}
				}
				return 0
			}
			if list(0, c.before); c.want != list(c.expected, c.pages) {
				t.Errorf("%s: want a wait of %s", c.why, c.want)
			}
		})
	}
}

func TestRetryAfterShutsTheBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := &base{status: http.StatusServiceUnavailable, header: http.Header{"Retry-After": {"30"}}}
		transport := New(Options{Base: answers, Budgets: func(Call) []Budget { return []Budget{{Key: "k", Burst: 100, PerSecond: 100}} }})
		if err := send(t.Context(), t, transport, Call{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		var held *RateLimitedError
		if err := send(t.Context(), t, transport, Call{}); !errors.As(err, &held) || held.After != 20*time.Second {
			t.Fatalf("want the next call to be held back for the 20s that are left, got %v", err)
		}
		time.Sleep(20 * time.Second)
		if err := send(t.Context(), t, transport, Call{}); err != nil {
			t.Errorf("want a call to be sent after that, got %v", err)
		}
	})
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := &base{status: http.StatusOK}
		transport := New(Options{Base: answers})
		reply, err := transport.RoundTrip(request(t.Context(), t, Call{}))
		if err != nil {
			t.Fatal(err)
		}
		if answers.deadline != DefaultTimeout {
			t.Errorf("want a deadline of %s for every call, got %s", DefaultTimeout, answers.deadline)
		}
		time.Sleep(DefaultTimeout + time.Second)
		if _, err := io.ReadAll(reply.Body); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("want the deadline to bound the reading of the reply too, got %v", err)
		}
		_ = reply.Body.Close()
	})
}

func TestHeldBackClosesTheBody(t *testing.T) {
	transport := New(Options{Base: &base{status: http.StatusOK},
		Budgets: func(Call) []Budget { return []Budget{{Key: "k", Burst: 1, PerSecond: 0.001}} }})
	if err := send(t.Context(), t, transport, Call{}); err != nil {
		t.Fatal(err)
	}
	req := request(t.Context(), t, Call{})
	body := &closed{Reader: req.Body}
	req.Body = body
	if _, err := transport.RoundTrip(req); err == nil {
		t.Fatal("want the second call to be held back, got a reply")
	}
	if body.times != 1 {
		t.Errorf("want the request's body closed once, got %d times", body.times)
	}
}

func TestNoReply(t *testing.T) {
	seen := &log{}
	broken := errors.New("connection reset")
	transport := New(Options{Base: &base{err: broken}, Hook: seen})
	if err := send(t.Context(), t, transport, Call{Service: "s", Operation: "Write"}); !errors.Is(err, broken) {
		t.Errorf("want the network's own error, got %v", err)
	}
	if diff := cmp.Diff([]string{"s:Write no reply"}, seen.lines); diff != "" {
		t.Errorf("what the hook was told (-want +got):\n%s", diff)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		reason, value string
		want          time.Duration
	}{
		{"no header says nothing", "", 0},
		{"seconds", "7", 7 * time.Second},
		{"a date is the time until then", now.Add(90 * time.Second).Format(http.TimeFormat), 90 * time.Second},
		{"a date in the past is now", now.Add(-time.Hour).Format(http.TimeFormat), 0},
		{"nonsense says nothing", "soon", 0},
		{"a negative number is nonsense", "-5", 0},
		{"hours are bounded, so that a broken header silences nothing", "86400", 5 * time.Minute},
	} {
		h := http.Header{}
		if c.value != "" {
			h.Set("Retry-After", c.value)
		}
		if got := RetryAfter(h, now); got != c.want {
			t.Errorf("%s: want %s, got %s", c.reason, c.want, got)
		}
	}
}

func TestRecorder(t *testing.T) {
	var text strings.Builder
	r := Hooks{NewRecorder(&text)}
	call := Call{Service: "ec2", Operation: "DescribeImages", Account: "a", Region: "eu-west-1"}
	r.Done(call, Result{Status: 200})
	r.Done(call, Result{})
	r.Done(call, Result{Limited: true})
	want := "ec2:DescribeImages a eu-west-1 200\nec2:DescribeImages a eu-west-1 no-reply\nec2:DescribeImages a eu-west-1 held-back\n"
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("recorded lines (-want +got):\n%s", diff)
	}
}

// late reads the request's body after the reply's header has come, as the standard transport may.
type late struct{ sent *http.Request }

func (l *late) RoundTrip(req *http.Request) (*http.Response, error) {
	l.sent = req
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: req}, nil
}

// once can be read until it is closed, as the bodies of an SDK.
type once struct {
	io.Reader
	closed bool
}

func (o *once) Read(p []byte) (int, error) {
	if o.closed {
		return 0, io.ErrClosedPipe
	}
	return o.Reader.Read(p)
}

func (o *once) Close() error {
	o.closed = true
	return nil
}

func TestABodyThatIsClosedEarlyIsSentWhole(t *testing.T) {
	base := &late{}
	req := request(t.Context(), t, Call{})
	body := &once{Reader: strings.NewReader("Action=Describe")}
	req.Body, req.ContentLength = body, int64(len("Action=Describe"))
	reply, err := New(Options{Base: base}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if !body.closed {
		t.Error("want the body closed once it was read, got it open")
	}
	_ = body.Close() // the SDK, once the reply's header has come
	got, err := io.ReadAll(base.sent.Body)
	if string(got) != "Action=Describe" || err != nil {
		t.Errorf("want the whole body and its end, got %q and %v", got, err)
	}
	if base.sent.ContentLength != req.ContentLength {
		t.Errorf("want the length kept at %d, got %d", req.ContentLength, base.sent.ContentLength)
	}
}

// clock is a time that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newClock() *clock { return &clock{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

// TestSeveralBuckets holds that a call takes from all of its buckets or from none.
func TestSeveralBuckets(t *testing.T) {
	c := newClock()
	transport := New(Options{Base: &base{status: http.StatusOK}, Now: c.now, Budgets: func(call Call) []Budget {
		return []Budget{
			{Key: "all", Burst: 3, PerSecond: 1},
			{Key: "one/" + call.Resource, Burst: 1, PerSecond: 0.1},
		}
	}})
	held := func(resource string) time.Duration {
		t.Helper()
		var e *RateLimitedError
		if err := send(t.Context(), t, transport, Call{Resource: resource}); errors.As(err, &e) {
			return e.After
		} else if err != nil {
			t.Fatal(err)
		}
		return 0
	}
	for _, s := range []struct {
		reason, resource string
		want             time.Duration
	}{
		{"both have a token", "a", 0},
		{"its own bucket is empty", "a", 10 * time.Second},
		{"another one has its own, and the refused call took nothing of the common one", "b", 0},
		{"the third takes the common one's last", "c", 0},
		{"the common one is empty for everybody", "d", time.Second},
		{"the longest wait counts, at the second place in its line", "a", 20 * time.Second},
	} {
		if got := held(s.resource); got != s.want {
			t.Errorf("%s: want to wait for %s, got %s", s.reason, s.want, got)
		}
	}
	c.at = c.at.Add(time.Second)
	if got := held("d"); got != 0 {
		t.Errorf("want the refused calls to have taken no token of d's own bucket, got a wait of %s", got)
	}
}

// TestWhatRepliesTell holds that others' calls are counted where replies tell of them, and that looks leave the rest to writes.
func TestWhatRepliesTell(t *testing.T) {
	c := newClock()
	answers := &base{status: http.StatusOK, header: http.Header{}}
	transport := New(Options{
		Base: answers, Now: c.now,
		Budgets: func(Call) []Budget {
			return []Budget{{Key: "shared", Burst: 100, PerSecond: 1}}
		},
		Remaining: func(_ Call, h http.Header) []Remaining {
			n, err := strconv.Atoi(h.Get("Left"))
			if err != nil {
				return nil
			}
			return []Remaining{{Key: "shared", Calls: n}, {Key: "a user's", Calls: 0}}
		},
	})
	look, write := Call{Operation: "Look", ReadOnly: true}, Call{Operation: "Write"}
	wait := func(call Call) time.Duration {
		t.Helper()
		var e *RateLimitedError
		if err := send(t.Context(), t, transport, call); errors.As(err, &e) {
			return e.After
		} else if err != nil {
			t.Fatal(err)
		}
		return 0
	}
	for _, s := range []struct {
		reason    string
		remaining string
		call      Call
		after     time.Duration
		want      time.Duration
	}{
		{reason: "nothing is told, and there is plenty", call: look},
		{reason: "others have used most of it", remaining: "7", call: look},
		{reason: "a reply that says more than we have is late", remaining: "90", call: look},
		{reason: "one above the floor is left", remaining: "6", call: look},
		{reason: "at the floor looks wait", call: look, want: time.Second},
		{reason: "a write goes on", remaining: "4", call: write},
		{reason: "and looks wait for longer", call: look, want: 2 * time.Second},
		{reason: "what is refilled brings looks back", call: look, after: 2 * time.Second},
		{reason: "nothing is left", remaining: "0", call: write},
		{reason: "writes wait for the refill alone", call: write, want: time.Second},
		{reason: "a number below nothing is nothing", remaining: "-5", call: write, after: time.Second},
		{reason: "it does not get worse than empty", call: write, want: time.Second},
	} {
		c.at = c.at.Add(s.after)
		answers.header.Set("Left", s.remaining)
		if got := wait(s.call); got != s.want {
			t.Errorf("%s: want to wait for %s, got %s", s.reason, s.want, got)
		}
	}
}

// TestTheBucketThatIsEmptyIsShut holds that what a cloud says of one bucket silences no other.
func TestTheBucketThatIsEmptyIsShut(t *testing.T) {
	c := newClock()
	answers := &base{status: http.StatusTooManyRequests, header: http.Header{"Retry-After": {"60"}, "Empty": {"one/a"}}}
	transport := New(Options{
		Base: answers, Now: c.now,
		Budgets: func(call Call) []Budget {
			return []Budget{{Key: "all", Burst: 100, PerSecond: 1}, {Key: "one/" + call.Resource, Burst: 10, PerSecond: 1}}
		},
		Remaining: func(_ Call, h http.Header) []Remaining {
			if h.Get("Empty") == "" {
				return nil
			}
			return []Remaining{{Key: "all", Calls: 50}, {Key: h.Get("Empty"), Calls: 0}}
		},
	})
	wait := func(resource string) (after time.Duration) {
		t.Helper()
		var e *RateLimitedError
		if err := send(t.Context(), t, transport, Call{Resource: resource}); errors.As(err, &e) {
			after = e.After
		}
		return after
	}
	if got := wait("a"); got != 0 {
		t.Fatalf("want the first call sent, got a wait of %s", got)
	}
	if got := wait("a"); got != time.Minute {
		t.Errorf("want the empty bucket shut for a minute, got %s", got)
	}
	answers.status, answers.header = http.StatusOK, http.Header{}
	if got := wait("b"); got != 0 {
		t.Errorf("want another resource's calls sent, got a wait of %s", got)
	}
	answers.status, answers.header = http.StatusTooManyRequests, http.Header{"Retry-After": {"60"}}
	if got := wait("b"); got != 0 {
		t.Fatalf("want the call sent, got a wait of %s", got)
	}
	if got := wait("c"); got != time.Minute {
		t.Errorf("want all of the call's buckets shut where nothing is said of which, got %s", got)
	}
}

// TestBucketsAreBounded holds that things which are gone are forgotten, and what was used up is not.
func TestBucketsAreBounded(t *testing.T) {
	now := newClock().at
	var b budgets
	used := Budget{Key: "used", Burst: 2, PerSecond: 0.00001}
	b.take(ask{calls: 1, list: []Budget{used}}, now)
	adaptive := func(key string) []Budget { return []Budget{{Key: key, Burst: 1, PerSecond: 1, Adaptive: true}} }
	b.take(ask{calls: 1, list: adaptive("never refused")}, now)
	b.throttled(adaptive("refused"), now, now)
	b.shut([]Budget{{Key: "shut", Burst: 1, PerSecond: 1}}, nil, now.Add(24*time.Hour))
	for i := range maxBuckets + 10 {
		b.take(ask{calls: 1, list: []Budget{{Key: strconv.Itoa(i), Burst: 1, PerSecond: 1}}}, now.Add(time.Duration(i)*time.Second))
	}
	if got := len(b.buckets); got > maxBuckets {
		t.Errorf("want at most %d buckets, got %d", maxBuckets, got)
	}
	for key, want := range map[string]bool{"used": true, "shut": true, "refused": true, "never refused": false} {
		if _, got := b.buckets[key]; got != want {
			t.Errorf("want a bucket kept that is not as a new one: %q is kept: %v", key, got)
		}
	}
	if _, got := b.take(ask{calls: 1, list: []Budget{{Key: "never", Burst: 1}}}, now); got != 0 {
		t.Errorf("want the one token, got a wait of %s", got)
	}
	if _, got := b.take(ask{calls: 1, list: []Budget{{Key: "never", Burst: 1}}}, now); got != longestWait {
		t.Errorf("want the longest wait for a bucket without a refill, got %s", got)
	}
}
