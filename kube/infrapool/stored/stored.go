// Package stored keeps values on an infrastructure object that must outlive the process: what was looked up for its specification, and what
// is needed to find its cloud objects once its cluster is gone. They survive moves, backup and restore of the object, unlike its status.
package stored

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/pool"
)

// Annotation holds the values of an object, as a JSON object of strings.
const Annotation = "muster.dev/resolved"

// The keys of the values that drivers do not look up.
const (
	// GroupName is the name in the annotations when the group was created.
	GroupName = "group-name"
	// Identity is the identity that the cluster references.
	Identity = "identity"
	// Configurations are the bootstrap configurations of the pool.
	Configurations = "bootstrap"
	// Token and the hash of bootstrap data are the key of the IDs of the bootstrap tokens in that data. They are stored as long as machines
	// may be launched with the data or are about to join with it, whatever became of it since: a group launches from its template until it
	// is given the next one, which may take long or be refused; a provider rollout launches the version that it was started with; and a
	// template may be left as it is if data alone has changed.
	Token = "token-"
	// Content and the hash of bootstrap data are the key of the content of that data, which is all of it but the tokens, for as long as its
	// tokens are stored.
	Content = "content-"
	// ReplicasManagedBy is the value of the annotation of that name that the controller gave the MachinePool, because the specification has
	// the cloud's own autoscaler size the group. An annotation of a user's is not stored.
	ReplicasManagedBy = "replicas-managed-by"
	// Restart is the time at which the restart that an annotation of the infrastructure object requests was first seen.
	Restart = "restart"
	// RestartPool is that of the restart that an annotation of its MachinePool requests.
	RestartPool = "restart-machinepool"
)

// limit bounds how many values an object keeps. Beyond it, look-ups that the specification no longer uses are dropped; below it they stay,
// so that a return to an earlier Kubernetes version finds the image that it had.
const limit = 64

// permanent are the keys, and the beginnings of keys, whose values are kept beyond the limit.
var permanent = struct{ keys, prefixes []string }{
	keys:     []string{Configurations, GroupName, ReplicasManagedBy},
	prefixes: []string{Token, Content, pool.AdoptedKey},
}

// Values returns the values of an object. The error names the annotation and what to do about it.
func Values(o client.Object) (map[string]string, error) {
	text := o.GetAnnotations()[Annotation]
	if text == "" {
		return nil, nil
	}
	var values map[string]string
	if err := json.Unmarshal([]byte(text), &values); err != nil {
		return nil, fmt.Errorf("metadata.annotations[%s]: want a JSON object of strings; remove the annotation to have everything looked up "+
			"again: %w",
			Annotation, err)
	}
	return values, nil
}

// Update sets values on an object in memory and drops others.
func Update(o client.Object, found map[string]string, drop ...string) error {
	if len(found) == 0 && len(drop) == 0 {
		return nil
	}
	before, err := Values(o)
	if err != nil {
		return err
	}
	next := map[string]string{}
	maps.Copy(next, before)
	maps.Copy(next, found)
	if len(next) > limit {
		maps.DeleteFunc(next, func(key, _ string) bool {
			_, is := found[key]
			return !is && !isPermanent(key)
		})
	}
	for _, key := range drop {
		delete(next, key)
	}
	if maps.Equal(next, before) {
		return nil
	}
	text, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("encode look-ups: %w", err)
	}
	Annotate(o, Annotation, string(text))
	return nil
}

// isPermanent reports whether the value of a key is kept beyond the limit.
func isPermanent(key string) bool {
	return slices.Contains(permanent.keys, key) ||
		slices.ContainsFunc(permanent.prefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

// Annotate sets an annotation of an object in memory. It leaves the map as it is, which the object may share with a cache.
func Annotate(o client.Object, key, value string) {
	annotations := maps.Clone(o.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	o.SetAnnotations(annotations)
}

// Merged returns a with the keys that only b has.
func Merged(a, b map[string]string) map[string]string {
	if len(a) == 0 {
		return b
	}
	out := maps.Clone(b)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, a)
	return out
}

// After returns the values that an object has once some were set and others dropped.
func After(before, found map[string]string, drop []string) map[string]string {
	after := maps.Clone(before)
	for _, key := range drop {
		delete(after, key)
	}
	return Merged(found, after)
}

// Items returns the objects of a list.
func Items(list client.ObjectList) []client.Object {
	var out []client.Object
	each := func(o runtime.Object) error {
		if item, ok := o.(client.Object); ok {
			out = append(out, item)
		}
		return nil
	}
	if err := meta.EachListItem(list, each); err != nil {
		return nil
	}
	return out
}
