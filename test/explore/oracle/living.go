package oracle

import (
	"fmt"
	"slices"
)

// LivingNode finds the deletion of a Node whose machine runs and is a member of its group: a kubelet that runs does not
// register again, so that the machine would be lost to its cluster. The instance is empty when no machine of the node runs.
func LivingNode(node, instance string, c Cloud) []string {
	for _, g := range c.Groups {
		if slices.ContainsFunc(g.Staying(), func(m Member) bool { return instance != "" && m.ID == instance }) {
			return []string{fmt.Sprintf("node %s was deleted although its machine %s runs in group %s", node, instance, g.Name)}
		}
	}
	return nil
}
