// Package gates defines the questions that a rollout policy asks before it lets a rollout go on, and their state: passed, failed, unknown
// or pending. It is pure. The packages below it ask: address decides whom, prometheus and health read an answer, success judges it,
// approval reads the decisions of users, and asker runs all of it outside of the workers of reconcilers.
package gates

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// MinInterval is the shortest time between two asks of a gate.
	MinInterval = 10 * time.Second
	// DefaultInterval is the time between two asks of a gate that sets none.
	DefaultInterval = time.Minute
	// DefaultFailures is the number of consecutive answers after which a gate that sets none has failed.
	DefaultFailures = 3
)

// SecretLabel is the label, with the value SecretLabelValue, of Secrets that gates may use. Without it the author of a policy could have
// the manager send any Secret of the namespace to a server.
const (
	SecretLabel      = "muster.dev/gate"
	SecretLabelValue = "true"
)

// The keys of a Secret of a gate. Both are optional.
const (
	// SecretToken is a bearer token, which is sent over https alone.
	SecretToken = "token"
	// SecretCA are the certificate authorities in PEM that the server's certificate must be signed by, in place of the system's.
	SecretCA = "ca.crt"
)

// Policy is the version of a policy that a gate belongs to.
type Policy struct {
	UID        types.UID
	Generation int64
	// Namespace is that of the policy; empty for one that is cluster-scoped.
	Namespace string
}

// Key identifies a question. All pools for which a gate asks the same share its state.
type Key struct {
	Policy types.UID
	// Generation of the policy: a changed policy asks anew.
	Generation int64
	Gate       string
	// Namespace of the object whose condition is asked for, which can be that of the pool.
	Namespace string
}

// Gate is a gate of a policy that is asked by the manager: exactly one of Prometheus and Condition is set. Approvals are not asked, but
// read on the pool.
type Gate struct {
	Policy Policy
	Name   string
	Rules
	Prometheus *Prometheus
	Condition  *Condition
}

// Key returns the identity of what the gate asks.
func (g Gate) Key() Key {
	key := Key{Policy: g.Policy.UID, Generation: g.Policy.Generation, Gate: g.Name}
	if g.Condition != nil {
		key.Namespace = g.Condition.Namespace
	}
	return key
}

// Prometheus is an instant query.
type Prometheus struct {
	// Address of the server, such as https://prometheus.monitoring:9090.
	Address string
	Query   string
	// Secret names a Secret with SecretLabel in the policy's namespace; empty uses none.
	Secret string
	// Success is a CEL expression over the result (package success); empty is the default.
	Success string
}

// Condition is the state that an object must have.
type Condition struct {
	APIVersion, Kind, Namespace, Name string
	// Healthy asks for the health that the object's kind defines. Otherwise the condition Type must have Status.
	Healthy      bool
	Type, Status string
}

// Series is a sample of one time series.
type Series struct {
	Metric map[string]string
	Value  float64
}
