package session

import (
	"context"
	"fmt"
	"sync"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
)

const (
	// renewEarly is the time before their expiry at which credentials are renewed, so that no call meets the expiry.
	renewEarly = 5 * time.Minute
	// renewAgain is the time from a failed renewal to the next attempt while the credentials are still valid.
	renewAgain = 30 * time.Second
)

// renewing are temporary credentials that are renewed before they end. One call renews them; while they are good the others
// go on with them, and when they are not all wait for that one.
type renewing struct {
	get func(context.Context) (awssdk.Credentials, error)
	now func() time.Time

	mu   sync.Mutex
	have awssdk.Credentials
	// pending is closed when the renewal that runs has ended, with failed.
	pending chan struct{}
	failed  error
	// again is when the next renewal is tried after one that failed.
	again time.Time
}

// Retrieve gives credentials that are good.
func (r *renewing) Retrieve(ctx context.Context) (awssdk.Credentials, error) {
	r.mu.Lock()
	if r.good(r.now()) && (r.pending != nil || !r.due(r.now())) {
		defer r.mu.Unlock()
		return r.have, nil
	}
	if r.pending != nil {
		return r.await(ctx, r.pending)
	}
	r.pending = make(chan struct{})
	r.mu.Unlock()
	got, err := r.get(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.pending)
	r.pending, r.failed = nil, err
	if err == nil {
		r.have = got
		return got, nil
	}
	r.again = r.now().Add(renewAgain)
	if r.good(r.now()) {
		return r.have, nil
	}
	return awssdk.Credentials{}, err
}

// await gives what the renewal that runs brings. The lock is held when it is called.
func (r *renewing) await(ctx context.Context, pending chan struct{}) (awssdk.Credentials, error) {
	r.mu.Unlock()
	select {
	case <-pending:
	case <-ctx.Done():
		return awssdk.Credentials{}, fmt.Errorf("wait for credentials: %w", context.Cause(ctx))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.good(r.now()) {
		return r.have, nil
	}
	return awssdk.Credentials{}, r.failed
}

// good reports whether there are credentials which have not ended.
func (r *renewing) good(now time.Time) bool { return r.have.HasKeys() && now.Before(r.have.Expires) }

// due reports whether they are to be renewed.
func (r *renewing) due(now time.Time) bool {
	return !now.Before(r.have.Expires.Add(-renewEarly)) && !now.Before(r.again)
}
