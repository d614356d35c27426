package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/cloud"
)

// What a reply says shuts the bucket, or lowers the rate of an adaptive one, only where its status refuses the call for now.
func TestStatusOfReplies(t *testing.T) {
	for _, c := range []struct {
		status       int
		shut, slower bool
	}{
		{status: http.StatusOK},
		{status: http.StatusConflict},
		{status: http.StatusServiceUnavailable, shut: true},
		{status: http.StatusTooManyRequests, shut: true, slower: true},
	} {
		transport := New(Options{Base: &base{status: c.status, header: http.Header{"Retry-After": {"30"}}}, Now: newClock().now,
			Budgets: func(Call) []Budget { return []Budget{{Key: "k", Burst: 10, PerSecond: 10, Adaptive: true}} }})
		if err := send(t.Context(), t, transport, Call{}); err != nil {
			t.Fatal(err)
		}
		bucket := transport.budgets.buckets["k"]
		if slower := bucket.learned.rate() < 10; slower != c.slower || bucket.shut.IsZero() == c.shut {
			t.Errorf("status %d: want the bucket shut: %v and slower: %v, got shut until %s and slower: %v", c.status, c.shut, c.slower,
				bucket.shut, slower)
		}
	}
}

// slow refuses each call after a time of its own.
type slow struct{ takes []time.Duration }

func (s *slow) RoundTrip(*http.Request) (*http.Response, error) {
	takes := s.takes[0]
	s.takes = s.takes[1:]
	time.Sleep(takes)
	return &http.Response{StatusCode: http.StatusTooManyRequests, Body: http.NoBody}, nil
}

// Refusals of calls that were under way together lower the rate once, however they are known.
func TestRefusedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := New(Options{Base: &slow{takes: []time.Duration{time.Second, 3 * time.Second}},
			Budgets: func(Call) []Budget { return []Budget{{Key: "k", Burst: 10, PerSecond: 10, Adaptive: true}} }})
		sent := time.Now()
		for range 2 {
			go func() { _, _ = transport.RoundTrip(request(t.Context(), t, Call{})) }()
			synctest.Wait()
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		rate := transport.budgets.buckets["k"].learned.rate()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		transport.Throttled(Call{}, http.StatusBadRequest, sent)
		if got := transport.budgets.buckets["k"].learned.rate(); got != rate || rate >= 10 {
			t.Errorf("want the rate lowered once, got %.1f and then %.1f", rate, got)
		}
	})
}

// results records the results that a hook receives.
type results []Result

func (r *results) Done(_ Call, is Result) { *r = append(*r, is) }

func (r *results) Throttled(Call, Result) {}

// The context of a request gives it its priority and its place in line, and counts its writes.
func TestContextOfRequests(t *testing.T) {
	c := newClock()
	var seen results
	transport := New(Options{Base: &base{status: http.StatusOK}, Now: c.now, Hook: &seen, Budgets: func(Call) []Budget {
		return []Budget{{Key: "k", Burst: 3, PerSecond: 1}}
	}})
	ctx, writes := CountWrites(cloud.WithPriority(t.Context(), cloud.PriorityRollout))
	for k, call := range []Call{{}, {ReadOnly: true}, {}, {}, {}} {
		if err := send(ctx, t, transport, call); (err == nil) != (k == 0) {
			t.Errorf("request %d: want only the first sent, got %v", k, err)
		}
	}
	c.at = c.at.Add(time.Second)
	if err := send(ctx, t, transport, Call{}); err == nil {
		t.Error("want a newcomer behind the line, got it sent")
	}
	if err := send(cloud.WithTurn(ctx), t, transport, Call{}); err != nil {
		t.Errorf("want a request sent at its place in line, got %v", err)
	}
	for _, r := range seen {
		if r.Priority != cloud.PriorityRollout {
			t.Errorf("want the hook to see the priority, got %+v", r)
		}
	}
	if err := send(ctx, t, New(Options{Base: &base{status: http.StatusOK}}), Call{ReadOnly: true}); err != nil || writes.Sent() != 2 {
		t.Errorf("want the two writes counted that were sent, got %d, %v", writes.Sent(), err)
	}
}

// around notes the context of the last request that was sent.
type around struct{ ctx context.Context }

func (a *around) RoundTrip(req *http.Request) (*http.Response, error) {
	a.ctx = req.Context()
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: req}, nil
}

type spanKey struct{}

// A request runs within the context that its beginning gave, for as long as its reply is read, and has one end, also if it is never sent.
func TestAround(t *testing.T) {
	seen, ended := &around{}, 0
	transport := New(Options{Base: seen, Timeout: time.Minute, Around: func(ctx context.Context, _ Call) (context.Context, func(Result)) {
		return context.WithValue(ctx, spanKey{}, "span"), func(Result) { ended++ }
	}})
	reply, err := transport.RoundTrip(request(t.Context(), t, Call{}))
	if err != nil {
		t.Fatal(err)
	}
	if at, _ := seen.ctx.Deadline(); seen.ctx.Value(spanKey{}) != "span" || seen.ctx.Err() != nil || time.Until(at) <= DefaultTimeout {
		t.Errorf("want the request within its span and its own timeout, got %v until %s", seen.ctx, at)
	}
	_ = reply.Body.Close()
	if !errors.Is(seen.ctx.Err(), context.Canceled) {
		t.Errorf("want nothing left of a request whose reply was read, got %v", seen.ctx.Err())
	}
	broken := request(t.Context(), t, Call{})
	broken.Body = io.NopCloser(io.MultiReader(strings.NewReader("half"), &once{closed: true}))
	if reply, err := transport.RoundTrip(broken); err == nil || ended != 2 {
		t.Errorf("want one end of each request, got %d, %v, %v", ended, reply, err)
	}
}

// A request without a body is sent, and held back, as any other.
func TestWithoutABody(t *testing.T) {
	transport := New(Options{Base: &base{status: http.StatusOK},
		Budgets: func(Call) []Budget { return []Budget{{Key: "k", Burst: 1, PerSecond: 0.001}} }})
	for _, want := range []bool{true, false} {
		req := request(t.Context(), t, Call{})
		req.Body = nil
		reply, err := transport.RoundTrip(req)
		if (err == nil) != want {
			t.Errorf("want it sent: %v, got %v", want, err)
		}
		if err == nil {
			_ = reply.Body.Close()
		}
	}
}

func TestHeldBackText(t *testing.T) {
	for budget, want := range map[string]string{
		"":     "s:Read was held back: the rate budget of this account and region is used up",
		"mine": "s:Read was held back: the rate budget of mine is used up",
	} {
		if got := (&RateLimitedError{Call: Call{Service: "s", Operation: "Read"}, Budget: budget}).Error(); got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}

// A hook receives the state of the buckets after each request, without those of single resources, and a refusal once.
func TestBudgetsOfResults(t *testing.T) {
	t.Parallel()
	c := newClock()
	seen := &observed{}
	transport := New(Options{Base: &base{status: http.StatusBadRequest}, Now: c.now, Hook: seen, Budgets: func(Call) []Budget {
		return []Budget{{Key: "k", Label: "reads", Burst: 10, PerSecond: 5, Adaptive: true}, {Key: "r", Burst: 3, PerSecond: 1, Sole: true},
			{Key: "none"}}
	}})
	for range 2 {
		if err := send(t.Context(), t, transport, Call{}); err != nil {
			t.Fatal(err)
		}
	}
	transport.Throttled(Call{}, http.StatusBadRequest, c.at)
	transport.Throttled(Call{}, http.StatusTooManyRequests, c.at) // the transport has seen that one itself
	if len(seen.done) != 2 || len(seen.throttled) != 1 {
		t.Fatalf("want two requests and one refusal, got %+v", seen)
	}
	want := []BudgetState{{Label: "reads", Left: 8, Burst: 10, PerSecond: 5, At: c.at}}
	if diff := cmp.Diff(want, seen.done[1].Budgets); diff != "" {
		t.Errorf("budgets after two requests (-want +got):\n%s", diff)
	}
	left := seen.throttled[0].Budgets[0]
	if left.Left >= 1 || left.PerSecond >= 5 || seen.throttled[0].Status != http.StatusBadRequest {
		t.Errorf("want a refusal to empty the bucket and to lower its rate, got %+v", seen.throttled[0])
	}
	for _, at := range []struct {
		why   string
		state BudgetState
		after time.Duration
		want  float64
	}{
		{"tokens flow in", want[0], 200 * time.Millisecond, 9},
		{"up to the size", want[0], time.Hour, 10},
		{"what is taken in advance is not negative", BudgetState{Left: -3, Burst: 10, At: c.at}, time.Second, 0},
		{"none while the cloud asks to wait", BudgetState{Left: 5, Burst: 10, At: c.at, Shut: c.at.Add(time.Minute)}, time.Second, 0},
	} {
		if got := at.state.LeftAt(c.at.Add(at.after)); got != at.want {
			t.Errorf("%s: want %v, got %v", at.why, at.want, got)
		}
	}
}

// observed keeps what a hook receives.
type observed struct{ done, throttled []Result }

func (o *observed) Done(_ Call, r Result) { o.done = append(o.done, r) }

func (o *observed) Throttled(_ Call, r Result) { o.throttled = append(o.throttled, r) }
