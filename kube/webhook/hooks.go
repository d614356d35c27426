package webhook

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Role is the purpose of a webhook of an infrastructure kind.
type Role string

const (
	// Defaults fills in fields of objects that are created or updated.
	Defaults Role = "default"
	// DefaultsOlder fills in fields of objects that are written in an older version, and in that one alone.
	DefaultsOlder Role = "older.default"
	// Validates refuses objects that are created or updated.
	Validates Role = "validation"
	// Keeps refuses changes of templates that ClusterClasses make pools from.
	Keeps Role = "keep"
	// Warns rejects nothing. Objects are written without its warnings if it does not respond.
	Warns Role = "warnings"
)

// Hook is one admission webhook of an infrastructure kind.
type Hook struct {
	Role    Role
	Version schema.GroupVersion
	// Name of the kind in lower case, and Resource in requests.
	Name, Resource string
	Path           string
	// Serve returns what is served at Path. The reader reads from the cache.
	Serve func(scheme *runtime.Scheme, reader client.Reader) *admission.Webhook
}

// WithoutReader is Hook.Serve of a webhook that reads nothing.
func WithoutReader(serve func(*runtime.Scheme) *admission.Webhook) func(*runtime.Scheme, client.Reader) *admission.Webhook {
	return func(scheme *runtime.Scheme, _ client.Reader) *admission.Webhook { return serve(scheme) }
}
