package infrapool

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/tokens"
	"github.com/muster-project/muster/pool"
)

// keyToken and the hash of bootstrap data are the key under which a pool remembers the IDs of the bootstrap tokens in that data,
// where machines may be launched with it whatever became of the data meanwhile: from the template version that a roll of the
// cloud's was begun with, for as long as the roll takes; from the template of a group that is not written to for data alone.
const keyToken = "token-"

// tokensOf are the tokens that such a pool has to remember now.
func (r *Reconciler[O, S]) tokensOf(s *scope[O], d pool.Desired, remembered map[string]string) map[string]string {
	hash := s.bootstrap.Hash()
	if hash == "" || d.Deleting || !outlives(d, r.engine.Traits()) {
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

// outlives says that machines may be launched with bootstrap data that the pool has no more: the group's template is left alone as
// long as machines can join with what is in it, or the cloud replaces machines by itself.
func outlives(d pool.Desired, t pool.Traits) bool {
	return t.SparesVersions() || t.Rolls && d.Strategy == nil
}

// keepTokens keeps the remembered tokens alive that the bootstrap data no longer holds; those in the data are looked after by
// who made it. It says when to look again, zero for never, and puts down the data whose token is lost. While the workload
// cluster is out of reach no machine joins it either.
func (r *Reconciler[O, S]) keepTokens(ctx context.Context, s *scope[O], f *facts[S]) (time.Duration, error) {
	var next time.Duration
	for _, key := range oldTokens(f.Target.Remembered, s.bootstrap.Hash()) {
		if _, away := r.remote(ctx, s); away != nil || s.deleting() {
			return 0, nil
		}
		live, err := r.ClusterCache.GetUncachedClient(ctx, client.ObjectKeyFromObject(s.cluster))
		if err != nil {
			return 0, fmt.Errorf("workload cluster %s: %w", s.clusterKey(), err)
		}
		kept, err := tokens.Keep(ctx, live, strings.Split(f.Target.Remembered[key], ","), f.Now)
		if err != nil {
			return 0, err
		}
		if kept.Lost {
			f.Desired.DataLost = append(f.Desired.DataLost, strings.TrimPrefix(key, keyToken))
		}
		if next == 0 || kept.Next > 0 && kept.Next < next {
			next = kept.Next
		}
	}
	return next, nil
}

// oldTokens are the keys of remembered tokens but for those of the given data, in order.
func oldTokens(remembered map[string]string, hash string) []string {
	var keys []string
	for key := range remembered {
		if strings.HasPrefix(key, keyToken) && key != keyToken+hash {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// forgetTokens drops the tokens that no machine can be launched with any more.
func (r *Reconciler[O, S]) forgetTokens(ctx context.Context, s *scope[O], f *facts[S], o pool.Observed) error {
	launching := map[string]bool{}
	for _, template := range o.LaunchesFrom() {
		launching[keyToken+template.Data] = true
	}
	var drop []string
	for _, key := range oldTokens(f.Target.Remembered, s.bootstrap.Hash()) {
		if !launching[key] {
			drop = append(drop, key)
		}
	}
	return r.patchMetadata(ctx, s.object, func() error { return resolve(s.object, nil, drop...) })
}
