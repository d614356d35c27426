package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/muster-project/muster/cloud"
)

const (
	// DefaultTimeout bounds one request with its reply. It is far longer than any healthy call of any cloud takes, and
	// short enough that a dead network holds no worker.
	DefaultTimeout = 10 * time.Second
	// longestRetryAfter bounds what a cloud may ask for, so that a broken header silences nothing for hours.
	longestRetryAfter = 5 * time.Minute
)

// Options of a Transport.
type Options struct {
	// Base sends the requests. Default: a copy of the standard library's transport.
	Base http.RoundTripper
	// Budgets are the buckets that a call takes from, all of them. Without it no call has a budget.
	Budgets func(Call) []Budget
	// Remaining reads from the header of a reply how many calls the buckets have left, where a cloud reports it.
	Remaining func(Call, http.Header) []Remaining
	// Hook is called after every request.
	Hook Hook
	// Around is called before and after every request.
	Around Around
	// Timeout of one request with its reply. Default: DefaultTimeout.
	Timeout time.Duration
	// Now is the clock of the budgets. Default: time.Now.
	Now func() time.Time
}

// Transport is an http.RoundTripper with budgets, deadlines and counters. It is safe for concurrent use.
type Transport struct {
	options Options
	budgets budgets
}

// New makes a Transport.
func New(o Options) *Transport {
	if o.Base == nil {
		o.Base = defaultBase()
	}
	if o.Budgets == nil {
		o.Budgets = func(Call) []Budget { return nil }
	}
	if o.Remaining == nil {
		o.Remaining = func(Call, http.Header) []Remaining { return nil }
	}
	if o.Hook == nil {
		o.Hook = Hooks{}
	}
	if o.Around == nil {
		o.Around = func(ctx context.Context, _ Call) (context.Context, func(Result)) { return ctx, func(Result) {} }
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Transport{options: o}
}

func defaultBase() http.RoundTripper {
	if standard, ok := http.DefaultTransport.(*http.Transport); ok {
		return standard.Clone()
	}
	return http.DefaultTransport
}

// CloseIdleConnections closes what the base transport keeps open.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.options.Base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// RoundTrip sends one request, unless its budget is used up: then it fails at once with *RateLimitedError.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	call := CallFrom(req.Context())
	within, ended := t.options.Around(req.Context(), call)
	priority := cloud.PriorityOf(req.Context())
	budgets := t.options.Budgets(call)
	start := t.options.Now()
	done := func(r Result) {
		r.Priority = priority
		ended(r)
		r.Budgets = t.budgets.states(budgets, start.Add(r.Duration))
		t.options.Hook.Done(call, r)
	}
	a := ask{list: budgets, level: levelOf(priority, call.ReadOnly), turn: cloud.HasTurn(req.Context())}
	pages := PagesOf(req.Context())
	a.calls, a.begun = pages.next()
	if usedUp, wait := t.budgets.take(a, start); wait > 0 {
		CloseBody(req)
		done(Result{Limited: true})
		return nil, &RateLimitedError{Call: call, Budget: usedUp.Name, After: wait}
	}
	if pages != nil {
		pages.sent++
	}
	ctx, cancel := context.WithTimeout(within, t.options.Timeout)
	sent, err := detached(ctx, req)
	if err != nil {
		cancel()
		ended(Result{})
		return nil, err
	}
	call.count(req.Context())
	reply, err := t.options.Base.RoundTrip(sent)
	now := t.options.Now()
	if err != nil {
		cancel()
		done(Result{Duration: now.Sub(start)})
		return nil, err
	}
	reply.Body = &bounded{ReadCloser: reply.Body, done: cancel}
	t.learn(call, budgets, reply, now)
	done(Result{Status: reply.StatusCode, Duration: now.Sub(start)})
	if reply.StatusCode == http.StatusTooManyRequests {
		t.throttled(call, reply.StatusCode, start, now)
	}
	return reply, nil
}

// Throttled lowers the adaptive budgets of a call that the cloud has throttled, and counts the refusal. Some clouds report throttling only
// in the body of a reply, which the session reads. A status of 429 is ignored here: the transport handles that one itself. A refusal of a
// call that was sent before the rate was lowered last does not lower it again.
func (t *Transport) Throttled(call Call, status int, sent time.Time) {
	if status != http.StatusTooManyRequests {
		t.throttled(call, status, sent, t.options.Now())
	}
}

func (t *Transport) throttled(call Call, status int, sent, now time.Time) {
	budgets := t.options.Budgets(call)
	t.budgets.throttled(budgets, sent, now)
	t.options.Hook.Throttled(call, Result{Status: status, Duration: now.Sub(sent), Budgets: t.budgets.states(budgets, now)})
}

// learn takes over what a reply tells of the call's buckets.
func (t *Transport) learn(call Call, budgets []Budget, reply *http.Response, now time.Time) {
	left := t.options.Remaining(call, reply.Header)
	t.budgets.reportRemaining(budgets, left, now)
	if !refusesForNow(reply.StatusCode) {
		return
	}
	if after := RetryAfter(reply.Header, now); after > 0 {
		t.budgets.shut(budgets, left, now.Add(after))
	}
}

func refusesForNow(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// detached is the request with a body of its own. SDKs close theirs as soon as the reply's header has come; where a server
// is so near that this is before the body's end was seen, the connection would be torn down below the reply.
func detached(ctx context.Context, req *http.Request) (*http.Request, error) {
	sent := req.WithContext(ctx)
	if req.Body == nil || req.Body == http.NoBody {
		return sent, nil
	}
	defer CloseBody(req)
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, fmt.Errorf("read the request's body: %w", err)
	}
	sent.Body = io.NopCloser(bytes.NewReader(body))
	return sent, nil
}

// CloseBody closes the body of a request that is not sent, or was read whole.
func CloseBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// bounded ends the call's deadline when its reply has been read.
type bounded struct {
	io.ReadCloser
	done context.CancelFunc
}

func (b *bounded) Close() error {
	defer b.done()
	return b.ReadCloser.Close()
}

// RetryAfter returns the time that the header Retry-After asks to wait, in seconds or as a date. It is zero without the header, and at most
// five minutes.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	if value == "" {
		return 0
	}
	var after time.Duration
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		after = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(value); err == nil {
		after = date.Sub(now)
	}
	return min(max(after, 0), longestRetryAfter)
}
