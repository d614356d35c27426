package wire_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/muster-project/muster/cloud/wire"
)

// answers is a service that answers every request.
type answers struct{}

func (answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody}, nil
}

// The transport knows the rate limits of the service. A call beyond them is not sent: it fails at once and tells when its turn comes. The
// transport never waits and never retries.
func ExampleTransport() {
	now := time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	client := &http.Client{Transport: wire.New(wire.Options{
		Base: answers{},
		Budgets: func(c wire.Call) []wire.Budget {
			return []wire.Budget{{Key: c.Service, Name: "Compute in region r-1", Burst: 2, PerSecond: 0.5}}
		},
		Now: func() time.Time { return now },
	})}
	resize := func() {
		call := wire.Call{Service: "compute", Operation: "ResizeGroup"}
		ctx := wire.WithCall(context.Background(), call)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://compute.example/groups/a", nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		reply, err := client.Do(req)
		var limited *wire.RateLimitedError
		switch {
		case errors.As(err, &limited):
			fmt.Println(limited, "- next try after", limited.After)
		case err != nil:
			fmt.Println(err)
		default:
			fmt.Println(reply.StatusCode, reply.Body.Close())
		}
	}
	for range 3 {
		resize()
	}
	now = now.Add(2 * time.Second)
	resize()

	// Output:
	// 200 <nil>
	// 200 <nil>
	// compute:ResizeGroup was held back: the rate budget of Compute in region r-1 is used up - next try after 2s
	// 200 <nil>
}
