// Package kubelet simulates the visible behavior of a kubelet: it registers a Node, renews its lease, reports its status and runs the pods
// that are bound to it, with the node's own credentials.
//
// The cloud's controller manager is simulated as well, at registration: the Node has its provider ID, zone, region and instance type at
// once and never carries the taint that waits for them. Containers are not run; they start, become ready and run until they are deleted,
// also those of a Job.
package kubelet

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/muster-project/muster/sim/nodes/apiclient"
)

// Times as a kubelet has them. They are not sped up: the API server's other components judge a node by them.
const (
	leaseDuration  = 40 * time.Second
	renewInterval  = leaseDuration / 4
	statusInterval = 5 * time.Minute
	callTimeout    = 10 * time.Second
	minRetry       = 200 * time.Millisecond
	// maxRetry is the kubelet's longest wait between tries of a registration and of a lease.
	maxRetry = 7 * time.Second
)

// Life spans: how long things take on a real machine. They are given to Options.Life.
const (
	readyDelay = 8 * time.Second
	startDelay = 3 * time.Second
)

// Options gives a kubelet access to its machine.
type Options struct {
	// Access is the access to the API server, with the certificate of the node.
	Access apiclient.Access
	// Dial opens connections; nil means the network.
	Dial apiclient.DialFunc
	// Node is the registration of the node.
	Node Registration
	// Life converts a duration of a real machine to one of the simulation.
	Life func(time.Duration) time.Duration
	// Print writes a line to the console.
	Print func(format string, args ...any)
	// Registered is called when the Node exists; existed is true if it existed before. It may be nil.
	Registered func(existed bool)
	// Ready is called with the readiness of the node as its kubelet knows it. It may be nil.
	Ready func(bool)
}

// kubelet is one that runs.
type kubelet struct {
	Options
	api *apiclient.Client
	// booted is when it started, for the life-like wait until it is Ready.
	booted time.Time
}

// Run is the life of a kubelet. It returns when ctx ends, and leaves nothing running; the Node stays as it is, as when a machine is
// cut off.
func Run(ctx context.Context, o Options) error {
	api, err := apiclient.Open(o.Access, o.Dial)
	if err != nil {
		return fmt.Errorf("kubelet of %s: %w", o.Node.Name, err)
	}
	defer api.Close()
	k := &kubelet{Options: o, api: api, booted: time.Now()}
	existed, ok := k.register(ctx)
	if !ok {
		return nil
	}
	if k.Registered != nil {
		k.Registered(existed)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { (&pods{kubelet: k}).run(ctx) })
	wg.Go(func() { (&lease{kubelet: k}).run(ctx) })
	k.reportStatus(ctx)
	return nil
}

// call bounds one request.
func call(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, callTimeout)
}

// once prints an error when it differs from the one before, so that a console does not fill up with one outage.
type once struct{ last string }

func (o *once) print(k *kubelet, format string, err error) {
	s := ""
	if err != nil {
		s = fmt.Sprintf(format, err)
	}
	if s != "" && s != o.last {
		k.Print("%s", s)
	}
	if s == "" && o.last != "" {
		k.Print("connection to the API server is back")
	}
	o.last = s
}
