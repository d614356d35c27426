package definitions

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cluster-api/util/contract"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Result holds the comparison of one installed CustomResourceDefinition with the built-in one.
type Result struct {
	// Name of the definition.
	Name string
	// Served are the versions that are served; empty if the definition does not exist.
	Served []string
	// Differences describes, one entry each, the parts that the installed definition lacks.
	Differences []string
	// ConvertedElsewhere is true if objects are converted by a program that is not this one.
	ConvertedElsewhere bool
}

// Serves reports whether a version is served.
func (r Result) Serves(version string) bool { return slices.Contains(r.Served, version) }

// Message says why the kind is not run; empty if it is.
func (r Result) Message() string {
	switch {
	case len(r.Served) == 0:
		return "CustomResourceDefinition " + r.Name + " does not exist"
	case len(r.Differences) == 0:
		return ""
	}
	return fmt.Sprintf("CustomResourceDefinition %s is not the one that Muster comes with: %s; install Muster's definitions again, and see "+
		"docs/install.md",
		r.Name, strings.Join(r.Differences, "; "))
}

// Metric reports the compatibility of definitions. Nil reports nothing.
type Metric struct{ compatible *prometheus.GaugeVec }

// NewMetric makes the metric and registers it.
func NewMetric(r prometheus.Registerer) (*Metric, error) {
	m := &Metric{prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: "muster", Subsystem: "definition", Name: "compatible",
		Help: "Whether a CustomResourceDefinition has what Muster needs (1), or is missing, or was replaced by that of another provider (0), " +
			"so that its kind is not run.",
	}, []string{"definition"})}
	if err := r.Register(m.compatible); err != nil {
		return nil, fmt.Errorf("register the metric of definitions: %w", err)
	}
	return m, nil
}

func (m *Metric) set(r Result) {
	if m == nil {
		return
	}
	value := 1.0
	if r.Message() != "" {
		value = 0
	}
	m.compatible.WithLabelValues(r.Name).Set(value)
}

// Checker compares the definitions of kinds, once for each of their states. A nil Checker finds no difference. It is safe for concurrent
// use.
type Checker struct {
	// Cached reads the metadata of definitions, and Live the whole of one that has changed.
	Cached, Live client.Reader
	Conversion   Conversion
	Metric       *Metric

	mu    sync.Mutex
	known map[string]known
}

// known is the result for one state of a definition.
type known struct {
	state  string
	result Result
}

// Check compares the definition of a kind.
func (c *Checker) Check(ctx context.Context, kind schema.GroupKind) (Result, error) {
	if c == nil {
		return Result{Served: []string{""}}, nil
	}
	name := contract.CalculateCRDName(kind.Group, kind.Kind)
	is := &metav1.PartialObjectMetadata{}
	is.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	if err := c.Cached.Get(ctx, client.ObjectKey{Name: name}, is); client.IgnoreNotFound(err) != nil {
		return Result{}, fmt.Errorf("read CustomResourceDefinition %s: %w", name, err)
	}
	state := fmt.Sprintf("%s %d", is.UID, is.Generation)
	c.mu.Lock()
	before, ok := c.known[name]
	c.mu.Unlock()
	if ok && before.state == state {
		return before.result, nil
	}
	result, err := c.Look(ctx, name)
	if err != nil {
		return Result{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[string]known{}
	}
	c.known[name] = known{state, result}
	return result, nil
}

// LookAt is Look by kind.
func (c *Checker) LookAt(ctx context.Context, kind schema.GroupKind) (Result, error) {
	return c.Look(ctx, contract.CalculateCRDName(kind.Group, kind.Kind))
}

// Look compares a definition as it is now, and tells the log and the metric.
func (c *Checker) Look(ctx context.Context, name string) (Result, error) {
	want, err := Expected(name)
	if err != nil {
		return Result{}, err
	}
	found := &apiextensionsv1.CustomResourceDefinition{}
	result := Result{Name: name}
	switch err := c.Live.Get(ctx, client.ObjectKey{Name: name}, found); {
	case apierrors.IsNotFound(err):
	case err != nil:
		return Result{}, fmt.Errorf("read CustomResourceDefinition %s: %w", name, err)
	default:
		result.Differences, result.ConvertedElsewhere = Compare(want, found, c.Conversion), elsewhere(found, c.Conversion)
		for _, v := range found.Spec.Versions {
			if v.Served {
				result.Served = append(result.Served, v.Name)
			}
		}
	}
	c.Metric.set(result)
	if why := result.Message(); why != "" {
		ctrl.LoggerFrom(ctx).Info("the kind is not run", "definition", name, "reason", why)
	}
	return result, nil
}

func elsewhere(d *apiextensionsv1.CustomResourceDefinition, c Conversion) bool {
	is := converter(d)
	return c.Service != "" && is != "" && is != c.Service
}
