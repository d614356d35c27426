package infrapool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/tokens"
	"github.com/muster-project/muster/pool"
)

// keyToken and the hash of bootstrap data are the key under which a pool remembers the IDs of the bootstrap tokens in that data,
// for as long as machines may be launched with it or are about to join with it, whatever became of the data meanwhile: a group goes
// on launching from its template until it has been pointed at the next one, which may take long or be refused; a cloud's own roll
// makes machines of the version that it was begun with; and a template may be left as it is for data alone.
const keyToken = "token-"

// keyContent and the hash of bootstrap data are the key under which a pool remembers the content of that data, which is all of it but the
// tokens, for as long as its tokens are remembered.
const keyContent = "content-"

// tokensToRemember are the tokens of the present data and its content, to be remembered before anything is launched with it.
func (s *scope[O]) tokensToRemember(remembered map[string]string) map[string]string {
	hash := s.bootstrap.Hash()
	if hash == "" || s.deleting() || !kubeadms(s.bootstrap.Format()) {
		return nil
	}
	ids, content := remembered[keyToken+hash], remembered[keyContent+hash]
	if ids == "" || content == "" {
		ids, content = strings.Join(tokens.IDs(s.bootstrap.Data()), ","), tokens.Content(s.bootstrap.Data())
	}
	if ids == "" {
		return nil
	}
	return map[string]string{keyToken + hash: ids, keyContent + hash: content}
}

// rotatedData are the hashes of the data whose tokens are remembered and that has the content of the present data.
func rotatedData(remembered map[string]string, present string) []string {
	var hashes []string
	for _, key := range tokenKeys(remembered) {
		hash := strings.TrimPrefix(key, keyToken)
		if content := remembered[keyContent+hash]; content != "" && hash != present && content == remembered[keyContent+present] {
			hashes = append(hashes, hash)
		}
	}
	return hashes
}

// kubeadms says that data of a format may be kubeadm's, whose tokens are bootstrap tokens of the workload cluster. Others have
// tokens that look the same and are none.
func kubeadms(format string) bool { return format == formatCloudConfig || format == formatIgnition }

// refreshTokens keeps the remembered tokens alive: those that the bootstrap data no longer holds, for nobody else does, and those in
// the data when their maker did not, as while he is paused. It says what became of them, and names the data whose token is lost.
// While the workload cluster is out of reach no machine joins it either, and the tokens of a pool that goes run out.
func (r *Reconciler[O, S]) refreshTokens(ctx context.Context, s *scope[O], remembered map[string]string) (all tokens.Refreshed, lost []string, err error) {
	present := keyToken + s.bootstrap.Hash()
	for _, key := range tokenKeys(remembered) {
		if _, away := r.remote(ctx, s); away != nil || s.deleting() {
			return tokens.Refreshed{}, nil, nil
		}
		live, failed := r.ClusterCache.GetUncachedClient(ctx, client.ObjectKeyFromObject(s.cluster))
		if failed != nil {
			return all, lost, errors.Join(err, fmt.Errorf("workload cluster %s: %w", s.clusterKey(), failed))
		}
		left := tokens.Early
		if key == present {
			left = tokens.Late
		}
		kept, failed := r.tokens.Refresh(ctx, live, s.clusterKey().String(), strings.Split(remembered[key], ","), left, r.Now())
		if err = errors.Join(err, failed); failed != nil && !tokens.Answered(failed) {
			return all, lost, err
		}
		// Who made the token in the data makes it again.
		if kept.Lost && key != present {
			lost = append(lost, strings.TrimPrefix(key, keyToken))
		}
		all = all.And(kept)
	}
	return all, lost, err
}

// tokenKeys are the keys of remembered tokens, in order.
func tokenKeys(remembered map[string]string) []string {
	var keys []string
	for key := range remembered {
		if strings.HasPrefix(key, keyToken) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// forgetTokens drops the tokens that no machine can be launched with or joins with any more.
func (r *Reconciler[O, S]) forgetTokens(ctx context.Context, s *scope[O], f *facts[S], o pool.Observed) error {
	needed := joinsWith(o, cmp.Or(f.Desired.JoinDeadline, pool.DefaultJoinDeadline), f.Now)
	needed[s.bootstrap.Hash()] = true
	var drop []string
	for _, key := range tokenKeys(f.Target.Remembered) {
		if !needed[strings.TrimPrefix(key, keyToken)] && !needed[anyData] {
			drop = append(drop, key, keyContent+strings.TrimPrefix(key, keyToken))
		}
	}
	return r.patchMetadata(ctx, s.object, func() error { return resolve(s.object, nil, drop...) })
}

// anyData stands for data that is not known.
const anyData = ""

// joinsWith are the hashes of the bootstrap data that machines join with, now or later: of what they are or may be launched from,
// and of those that were launched a moment ago. What a group in other hands launches from is not known, and it may be given back.
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

// endTokens revokes the tokens of a pool that is gone, if the group has not gone into other hands. The deletion waits for none: what can't
// be revoked runs out.
func (r *Reconciler[O, S]) endTokens(ctx context.Context, s *scope[O], o pool.Observed) {
	if o.OwnershipConflict != nil {
		return
	}
	if err := r.revokeTokens(ctx, s); err != nil {
		ctrl.LoggerFrom(ctx).V(levelStep).Info("bootstrap tokens are left to run out", "reason", err.Error())
	}
}

// revokeTokens deletes the tokens that machines of a pool that is gone joined with, of those that no other pool may use. A pool whose
// MachinePool stays may be given another infrastructure object.
func (r *Reconciler[O, S]) revokeTokens(ctx context.Context, s *scope[O]) error {
	if s.pool == nil || s.pool.DeletionTimestamp.IsZero() || s.cluster == nil || !s.cluster.DeletionTimestamp.IsZero() {
		return nil
	}
	secret := dataSecret(s.pool)
	ids, err := r.tokensIn(ctx, s.object.GetNamespace(), secret)
	if err != nil {
		return err
	}
	ids = append(ids, rememberedTokens(s.object)...)
	if len(ids) == 0 {
		return nil
	}
	used, err := r.tokensOfOthers(ctx, s, secret)
	if err != nil {
		return err
	}
	slices.Sort(ids)
	ids = slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return slices.Contains(used, id) })
	if _, err := r.remote(ctx, s); err != nil || len(ids) == 0 {
		return err
	}
	live, err := r.ClusterCache.GetUncachedClient(ctx, client.ObjectKeyFromObject(s.cluster))
	if err != nil {
		return fmt.Errorf("workload cluster %s: %w", s.clusterKey(), err)
	}
	return tokens.Revoke(ctx, live, ids)
}

// tokensOfOthers are the IDs of the tokens that machines of other pools may join with: those that objects of the kind remember, and
// those in the data that the cluster's other MachinePools name, which is read where their kind is another or the data is the same. The
// objects are shared with the cache.
func (r *Reconciler[O, S]) tokensOfOthers(ctx context.Context, s *scope[O], secret string) ([]string, error) {
	list := r.kind.NewList()
	if err := r.Client.List(ctx, list, client.InNamespace(s.object.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list %s objects: %w", r.kind.Name, err)
	}
	var used []string
	for _, other := range objects(list) {
		if other.GetUID() != s.object.GetUID() {
			used = append(used, rememberedTokens(other)...)
		}
	}
	pools := &clusterv1.MachinePoolList{}
	err := r.Client.List(ctx, pools, client.InNamespace(s.object.GetNamespace()), client.MatchingFields{ClusterField: s.clusterName()}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("list the MachinePools of Cluster %s: %w", s.clusterKey(), err)
	}
	for i := range pools.Items {
		other := &pools.Items[i]
		name := dataSecret(other)
		if other.UID == s.pool.UID || name != secret && other.Spec.Template.Spec.InfrastructureRef.Kind == r.kind.Name {
			continue
		}
		ids, err := r.tokensIn(ctx, other.Namespace, name)
		if err != nil {
			return nil, err
		}
		used = append(used, ids...)
	}
	return used, nil
}

// tokensIn are the IDs of the tokens in a bootstrap data secret; one that does not exist has none.
func (r *Reconciler[O, S]) tokensIn(ctx context.Context, namespace, name string) ([]string, error) {
	if name == "" {
		return nil, nil
	}
	secret := &corev1.Secret{}
	if err := r.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read bootstrap data secret %s/%s: %w", namespace, name, err)
	}
	return tokens.IDs(secret.Data[dataKey]), nil
}

// rememberedTokens are the IDs of the tokens that an object remembers.
func rememberedTokens(o client.Object) []string {
	remembered, _ := resolved(o)
	var ids []string
	for _, key := range tokenKeys(remembered) {
		ids = append(ids, strings.Split(remembered[key], ",")...)
	}
	return ids
}

// dataSecret is the name of the secret with a MachinePool's bootstrap data, or nothing.
func dataSecret(mp *clusterv1.MachinePool) string {
	return ptr.Deref(mp.Spec.Template.Spec.Bootstrap.DataSecretName, "")
}
