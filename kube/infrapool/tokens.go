package infrapool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/tokens"
	"github.com/muster-project/muster/pool"
)

// keyToken and the hash of bootstrap data are the key under which a pool remembers the IDs of the bootstrap tokens in that data,
// for as long as machines may be launched with it or are about to join with it, whatever became of the data meanwhile: a group goes
// on launching from its template until it has been pointed at the next one, which may take long or be refused; a cloud's own roll
// makes machines of the version that it was begun with; and a template may be left as it is for data alone.
const keyToken = "token-"

// tokensOf are the tokens of the present data, to be remembered before anything is launched with it.
func (r *Reconciler[O, S]) tokensOf(s *scope[O], remembered map[string]string) map[string]string {
	hash := s.bootstrap.Hash()
	if hash == "" || s.deleting() || !kubeadms(s.bootstrap.Format()) {
		return nil
	}
	if ids, ok := remembered[keyToken+hash]; ok {
		return map[string]string{keyToken + hash: ids}
	}
	ids := tokens.IDs(s.bootstrap.Data())
	if len(ids) == 0 {
		return nil
	}
	return map[string]string{keyToken + hash: strings.Join(ids, ",")}
}

// kubeadms says that data of a format may be kubeadm's, whose tokens are bootstrap tokens of the workload cluster. Others have
// tokens that look the same and are none.
func kubeadms(format string) bool { return format == formatCloudConfig || format == formatIgnition }

// keepTokens keeps the remembered tokens alive: those that the bootstrap data no longer holds, for nobody else does, and those in
// the data when their maker did not, as while he is paused. It says what became of them, and names the data whose token is lost.
// While the workload cluster is out of reach no machine joins it either, and the tokens of a pool that goes run out.
func (r *Reconciler[O, S]) keepTokens(ctx context.Context, s *scope[O], remembered map[string]string) (all tokens.Kept, lost []string, err error) {
	present := keyToken + s.bootstrap.Hash()
	for _, key := range tokenKeys(remembered) {
		if _, away := r.remote(ctx, s); away != nil || s.deleting() {
			return tokens.Kept{}, nil, nil
		}
		live, failed := r.ClusterCache.GetUncachedClient(ctx, client.ObjectKeyFromObject(s.cluster))
		if failed != nil {
			return all, lost, errors.Join(err, fmt.Errorf("workload cluster %s: %w", s.clusterKey(), failed))
		}
		left := tokens.Early
		if key == present {
			left = tokens.Late
		}
		kept, failed := tokens.Keep(ctx, live, strings.Split(remembered[key], ","), left, r.Now())
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
			drop = append(drop, key)
		}
	}
	return r.patchMetadata(ctx, s.object, func() error { return resolve(s.object, nil, drop...) })
}

// anyData stands for data that is not known.
const anyData = ""

// joinsWith are the hashes of the bootstrap data that machines join with, now or later: of what they are or may be launched from,
// and of those that were launched a moment ago.
func joinsWith(o pool.Observed, deadline time.Duration, now time.Time) map[string]bool {
	needed := map[string]bool{}
	for _, template := range append(o.LaunchesFrom(), o.Latest()) {
		if template.Data != "" {
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
