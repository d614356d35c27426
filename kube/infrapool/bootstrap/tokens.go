package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/kube/tokens"
	"github.com/muster-project/muster/pool"
)

// Tokens returns the tokens of the present data and its content, to be stored before anything is launched with it.
func Tokens(b cloud.Bootstrap, values map[string]string) map[string]string {
	hash := b.Hash()
	if hash == "" || !hasTokens(b.Format()) {
		return nil
	}
	ids, content := values[stored.Token+hash], values[stored.Content+hash]
	if ids == "" || content == "" {
		ids, content = strings.Join(tokens.IDs(b.Data()), ","), tokens.Content(b.Data())
	}
	if ids == "" {
		return nil
	}
	return map[string]string{stored.Token + hash: ids, stored.Content + hash: content}
}

// hasTokens reports whether data of a format may be kubeadm's, whose tokens are bootstrap tokens of the workload cluster. Data of other
// formats has tokens that look the same and are not.
func hasTokens(format string) bool { return format == formatCloudConfig || format == formatIgnition }

// Rotated returns the hashes of the data whose tokens are stored and that has the content of the present data.
func Rotated(values map[string]string, present string) []string {
	var hashes []string
	for _, key := range tokenKeys(values) {
		hash := strings.TrimPrefix(key, stored.Token)
		if content := values[stored.Content+hash]; content != "" && hash != present && content == values[stored.Content+present] {
			hashes = append(hashes, hash)
		}
	}
	return hashes
}

// Live connects to the API server of a workload cluster, without a cache.
type Live func() (client.Client, error)

// Refresh keeps the stored tokens of a pool alive: those that the present data no longer holds, which nothing else renews, and those in it
// that the bootstrap provider did not renew, as while it is paused. It returns what became of them, and the hashes of the data whose token
// is lost. cluster tells workload clusters apart in the memory.
func Refresh(ctx context.Context, m *tokens.Memory, cluster string, live Live, values map[string]string, present string, now time.Time) (
	all tokens.Refreshed, lost []string, err error,
) {
	for _, key := range tokenKeys(values) {
		c, failed := live()
		if failed != nil {
			return all, lost, errors.Join(err, failed)
		}
		left, hash := tokens.Early, strings.TrimPrefix(key, stored.Token)
		if hash == present {
			left = tokens.Late
		}
		kept, failed := m.Refresh(ctx, c, cluster, strings.Split(values[key], ","), left, now)
		if err = errors.Join(err, failed); failed != nil && !tokens.Answered(failed) {
			return all, lost, err
		}
		// The bootstrap provider renews the token in the present data.
		if kept.Lost && hash != present {
			lost = append(lost, hash)
		}
		all = all.And(kept)
	}
	return all, lost, err
}

// tokenKeys returns the keys of stored tokens, in order.
func tokenKeys(values map[string]string) []string {
	var keys []string
	for key := range values {
		if strings.HasPrefix(key, stored.Token) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// Unneeded returns the keys of the stored tokens with which no machine can be launched or joins any more.
func Unneeded(values map[string]string, present string, o pool.Observed, joinDeadline time.Duration, now time.Time) []string {
	needed := joinsWith(o, joinDeadline, now)
	needed[present] = true
	var drop []string
	for _, key := range tokenKeys(values) {
		if hash := strings.TrimPrefix(key, stored.Token); !needed[hash] && !needed[anyData] {
			drop = append(drop, key, stored.Content+hash)
		}
	}
	return drop
}

// anyData stands for unknown data.
const anyData = ""

// joinsWith returns the hashes of the bootstrap data that machines join with, now or later: of what they are or may be launched from, and
// of those that were launched a moment ago. What a group of another owner launches from is unknown, and the group may be returned.
func joinsWith(o pool.Observed, deadline time.Duration, now time.Time) map[string]bool {
	needed := map[string]bool{}
	if o.OwnershipConflict != nil {
		needed[anyData] = true
	}
	for _, template := range append(o.LaunchesFrom(), o.Latest()) {
		if template.Data != "" || template.Ref != "" && !template.UserManaged {
			needed[template.Data] = true
		}
	}
	for _, i := range o.Instances {
		if i.Node == nil && (i.State == pool.Pending || i.State == pool.Running) && (i.Created.IsZero() || now.Sub(i.Created) < deadline) {
			needed[i.Template.Data] = true
		}
	}
	return needed
}

// Deleted is a pool that is gone from the cloud.
type Deleted struct {
	Object      client.Object
	MachinePool *clusterv1.MachinePool
	// Kind of the object, and a list for objects of this kind.
	Kind string
	List client.ObjectList
}

// RevokeTokens deletes the tokens that machines of a deleted pool joined with, except those that another pool may use.
func RevokeTokens(ctx context.Context, reader client.Reader, d Deleted, live Live) error {
	secret := secretName(d.MachinePool)
	ids, err := tokensIn(ctx, reader, d.Object.GetNamespace(), secret)
	if err != nil {
		return err
	}
	ids = append(ids, storedTokens(d.Object)...)
	if len(ids) == 0 {
		return nil
	}
	used, err := d.tokensOfOthers(ctx, reader, secret)
	if err != nil {
		return err
	}
	slices.Sort(ids)
	ids = slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return slices.Contains(used, id) })
	if len(ids) == 0 {
		return nil
	}
	c, err := live()
	if err != nil {
		return err
	}
	return tokens.Revoke(ctx, c, ids)
}

// tokensOfOthers returns the IDs of the tokens that machines of other pools may join with: those stored on objects of the kind, and those
// in the data that the cluster's other MachinePools name, which is read if their kind is another or the data is the same. The objects are
// shared with the cache.
func (d Deleted) tokensOfOthers(ctx context.Context, reader client.Reader, secret string) ([]string, error) {
	namespace := client.InNamespace(d.Object.GetNamespace())
	if err := reader.List(ctx, d.List, namespace, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list %s objects: %w", d.Kind, err)
	}
	var used []string
	for _, other := range stored.Items(d.List) {
		if other.GetUID() != d.Object.GetUID() {
			used = append(used, storedTokens(other)...)
		}
	}
	pools, cluster := &clusterv1.MachinePoolList{}, d.MachinePool.Spec.ClusterName
	if err := reader.List(ctx, pools, namespace, client.MatchingFields{watch.ClusterField: cluster},
		client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the MachinePools of Cluster %s/%s: %w", d.Object.GetNamespace(), cluster, err)
	}
	for i := range pools.Items {
		other := &pools.Items[i]
		name := secretName(other)
		if other.UID == d.MachinePool.UID || name != secret && other.Spec.Template.Spec.InfrastructureRef.Kind == d.Kind {
			continue
		}
		ids, err := tokensIn(ctx, reader, other.Namespace, name)
		if err != nil {
			return nil, err
		}
		used = append(used, ids...)
	}
	return used, nil
}

// tokensIn returns the IDs of the tokens in a bootstrap data secret; none if it does not exist.
func tokensIn(ctx context.Context, reader client.Reader, namespace, name string) ([]string, error) {
	if name == "" {
		return nil, nil
	}
	secret := &corev1.Secret{}
	if err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read bootstrap data secret %s/%s: %w", namespace, name, err)
	}
	return tokens.IDs(secret.Data[dataKey]), nil
}

// storedTokens returns the IDs of the tokens that are stored on an object.
func storedTokens(o client.Object) []string {
	values, _ := stored.Values(o)
	var ids []string
	for _, key := range tokenKeys(values) {
		ids = append(ids, strings.Split(values[key], ",")...)
	}
	return ids
}
