package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"
)

const (
	// stallLimit bounds the time in which a starting server passes no further check, after which the start is given up. Upstream's hooks have
	// time limits of thirty seconds, and a failed one never passes its check.
	stallLimit = 45 * time.Second
	// starts bounds the attempts to start a server. Each attempt has less to do, because the data of the previous ones is kept.
	starts = 3
	// readyPause between two looks at /readyz, and readyProbe bounds one.
	readyPause, readyProbe = 20 * time.Millisecond, 10 * time.Second
)

// errStalled is returned for a start that makes no progress.
var errStalled = errors.New("no progress")

// waitReady returns when the server answers that it is ready. It waits for as long as the server makes progress: a busy machine takes ten
// times as long as an idle one.
func (s *Server) waitReady(ctx context.Context, stall time.Duration) error {
	c, err := kubernetes.NewForConfig(s.Config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	pause := time.NewTicker(readyPause)
	defer pause.Stop()
	missing, since := "it does not answer", time.Now()
	for {
		limited, cancel := context.WithTimeout(ctx, readyProbe)
		code := 0
		answer := c.RESTClient().Get().AbsPath("/readyz").Param("verbose", "true").Do(limited).StatusCode(&code)
		cancel()
		if code == http.StatusOK {
			return nil
		}
		body, _ := answer.Raw() // whose error is the code
		if now := notReady(string(body)); code != 0 && now != missing {
			missing, since = now, time.Now()
		}
		select {
		case <-s.done:
			return fmt.Errorf("it ended: %w", errors.Join(s.err, os.ErrClosed))
		case <-ctx.Done():
			return fmt.Errorf("not ready (%s): %w", missing, ctx.Err())
		case <-pause.C:
		}
		if time.Since(since) > stall {
			return fmt.Errorf("%w for %v: not ready: %s", errStalled, stall, missing)
		}
	}
}

// notReady returns the names of the checks that have failed in a response of /readyz?verbose.
func notReady(answer string) string {
	var names []string
	for line := range strings.Lines(answer) {
		if check, ok := strings.CutPrefix(line, "[-]"); ok {
			name, _, _ := strings.Cut(check, " ")
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return strings.TrimSpace(answer)
	}
	return strings.Join(names, ", ")
}
