package rollout

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/muster-project/muster/kube/nodes"
)

// node is a Node of a workload cluster as an object that is changed.
func node(n *corev1.Node) target {
	return target{corev1.SchemeGroupVersion.WithKind("Node"), "", n.Name, n.Annotations}
}

// Hold returns the change of a Node that keeps its machine, without an end or until a time.
func Hold(n *corev1.Node, until time.Time) (Edit, error) {
	if until.IsZero() {
		return node(n).annotate(nodes.HoldAnnotation, "", "its machine is not replaced until it is released")
	}
	text := until.UTC().Format(time.RFC3339)
	return node(n).annotate(nodes.HoldAnnotation, text, "its machine is not replaced until "+text)
}

// Release returns the change that ends a hold.
func Release(n *corev1.Node) (Edit, error) {
	if held, _ := nodes.Held(n); !held {
		return Edit{}, fmt.Errorf("%s is not held: it has no annotation %s", node(n), nodes.HoldAnnotation)
	}
	return node(n).remove(nodes.HoldAnnotation, "its machine may be replaced again")
}

// Until returns the end of a hold that the user gave as a duration or as a moment; zero for none.
func Until(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	until, err := time.Parse(time.RFC3339, text)
	if d, failed := time.ParseDuration(text); failed == nil {
		until, err = now.Add(d), nil
	}
	switch {
	case err != nil:
		return time.Time{}, fmt.Errorf("--until: want a duration such as 12h, or a time such as 2026-12-01T06:00:00Z, found %q", text)
	case !until.After(now):
		return time.Time{}, fmt.Errorf("--until: want a time to come, found %s", until.UTC().Format(time.RFC3339))
	}
	return until.UTC().Truncate(time.Second), nil
}
