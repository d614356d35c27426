package nodes

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// DoNotDisruptAnnotation on a Node or a Pod has Karpenter leave the node alone.
const DoNotDisruptAnnotation = "karpenter.sh/do-not-disrupt"

// Mark is a label or an annotation by which another tool leaves a Node alone.
type Mark struct {
	Key string
	// Value in any case.
	Value string
}

// DoNotDisrupt is Karpenter's mark.
var DoNotDisrupt = Mark{Key: DoNotDisruptAnnotation, Value: "true"}

// ForeignHold returns the first of some marks that a Node has, for messages; empty if it has none.
func ForeignHold(node *corev1.Node, marks []Mark) string {
	for _, m := range marks {
		if strings.EqualFold(node.Annotations[m.Key], m.Value) || strings.EqualFold(node.Labels[m.Key], m.Value) {
			return "the mark " + m.Key + ": " + m.Value
		}
	}
	return ""
}
