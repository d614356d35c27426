package containerservice

import (
	"bytes"
	"fmt"
	"maps"
	"strings"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/document"
)

// Access describes the access to the API server of a cluster, set by the owner of the server.
type Access struct {
	// Endpoint is its URL, CA its certificate authority in PEM, Token the bootstrap token with which nodes join.
	Endpoint string `json:"endpoint"`
	CA       []byte `json:"certificateAuthority"`
	Token    string `json:"token"`
	// Kubeconfig holds the cluster's user credentials.
	Kubeconfig []byte `json:"kubeconfig"`
}

// Portal makes changes out of band, as a user or AKS itself would: without requests, tokens, limits and faults. Pools are named as
// "cluster/pool".
type Portal struct {
	by func(func(*Service) error) error
}

// NewPortal returns a portal whose actions are run by the function.
func NewPortal(by func(func(*Service) error) error) Portal { return Portal{by} }

// PutAccess sets the access to the API server of a cluster.
func (c Portal) PutAccess(cluster string, a Access) error {
	return c.onCluster(cluster, func(w *Service, k *Cluster) error {
		w.give(k, a)
		return nil
	})
}

// give sets the access to the API server of a cluster.
func (w *Service) give(k *Cluster, a Access) {
	if k.Endpoint == a.Endpoint && bytes.Equal(k.CA, a.CA) && k.Token == a.Token && bytes.Equal(k.Kubeconfig, a.Kubeconfig) {
		return
	}
	k.Endpoint, k.CA, k.Token, k.Kubeconfig = a.Endpoint, a.CA, a.Token, a.Kubeconfig
	w.rows.clusters.Touch(k.key())
}

// ReleaseImage publishes a node image, such as 202610.01.0. The newest one stays the newest.
func (c Portal) ReleaseImage(release string) error {
	return c.by(func(w *Service) error {
		if release < latest(w.releases) {
			return nil
		}
		w.releases.Put("latest", &releaseRow{Image: release})
		return nil
	})
}

// RegisterFeature registers a feature of previews of AKS, such as AgentPoolVMSSResize.
func (c Portal) RegisterFeature(name string) error {
	return c.by(func(w *Service) error {
		if name != FeatureResize {
			return fmt.Errorf("there is no feature %q: %s can be registered", name, FeatureResize)
		}
		w.features.Put(name, &featureRow{})
		return nil
	})
}

// UpgradePool upgrades a pool to a version, as a user does in the portal.
func (c Portal) UpgradePool(pool, version string) error {
	return c.change(pool, document.Object{"orchestratorVersion": version})
}

// StopPool stops a pool, StartPool starts it again.
func (c Portal) StopPool(pool string) error {
	return c.change(pool, document.Object{"powerState": document.Object{"code": powerStopped}})
}

// StartPool starts a pool that was stopped.
func (c Portal) StartPool(pool string) error {
	return c.change(pool, document.Object{"powerState": document.Object{"code": powerRunning}})
}

// ScalePool sets the count of a pool.
func (c Portal) ScalePool(pool string, count int) error {
	return c.change(pool, document.Object{"count": float64(count)})
}

// Autoscale lets AKS's autoscaler move the count of a pool that it scales.
func (c Portal) Autoscale(pool string, count int) error {
	return c.onPool(pool, func(w *Service, k *Cluster, p *Pool) error {
		if !p.autoscaled() {
			return fmt.Errorf("agent pool %s is not scaled by the autoscaler", p.Name)
		}
		next := document.Copied(p.Doc)
		next["count"] = float64(count)
		return w.begun(k, p, next)
	})
}

// AbortPool aborts the operation that runs on a pool.
func (c Portal) AbortPool(pool string) error {
	return c.onPool(pool, func(w *Service, k *Cluster, p *Pool) error {
		if p.Op == "" || p.State == stateDeleting {
			return fmt.Errorf("agent pool %s has no operation that can be aborted", p.Name)
		}
		w.life.cancel(k, p)
		return nil
	})
}

// TagPool sets a tag of a pool.
func (c Portal) TagPool(pool, key, value string) error {
	return c.retag(pool, func(tags map[string]string) { tags[key] = value })
}

// UntagPool removes a tag of a pool.
func (c Portal) UntagPool(pool, key string) error {
	return c.retag(pool, func(tags map[string]string) { delete(tags, key) })
}

func (c Portal) retag(pool string, change func(map[string]string)) error {
	return c.onPool(pool, func(w *Service, k *Cluster, p *Pool) error {
		tags := maps.Clone(document.Pairs(p.Doc, "tags"))
		if tags == nil {
			tags = map[string]string{}
		}
		change(tags)
		next := document.Copied(p.Doc)
		next["tags"] = document.OfStrings(tags)
		return w.begun(k, p, next)
	})
}

// CreatePool creates a pool of mode User with so many machines of a size.
func (c Portal) CreatePool(pool, size string, count int) error {
	cluster, name, _ := strings.Cut(pool, "/")
	return c.onCluster(cluster, func(w *Service, k *Cluster) error {
		if w.rows.pools.Get(poolKey(k.key(), name)) != nil {
			return fmt.Errorf("there is an agent pool %s already", pool)
		}
		if err := w.agentPools.open(k, nil); err != nil {
			return err
		}
		p, err := w.agentPools.create(k, strings.ToLower(name), document.Object{"count": float64(count), "vmSize": size})
		if err != nil {
			return err
		}
		w.life.beginPool(k, p, stateCreating)
		return nil
	})
}

// DeletePool deletes a pool.
func (c Portal) DeletePool(pool string) error {
	return c.onPool(pool, func(w *Service, k *Cluster, p *Pool) error {
		if err := w.agentPools.deletable(k, p); err != nil {
			return err
		}
		w.life.beginPool(k, p, stateDeleting)
		return nil
	})
}

// DeleteMachine deletes a machine of a pool by the name of its node.
func (c Portal) DeleteMachine(pool, name string) error {
	return c.onPool(pool, func(w *Service, k *Cluster, p *Pool) error {
		_, err := w.agentPools.takeMachines(k, p, []string{name})
		return err
	})
}

// FailPool lets the operation that runs on a pool fail with a code and words of AKS.
func (c Portal) FailPool(pool, code, message string) error {
	return c.onPool(pool, func(w *Service, _ *Cluster, p *Pool) error {
		if p.Op == "" {
			return fmt.Errorf("agent pool %s has no operation that can fail", p.Name)
		}
		w.life.finish(p, &arm.Trouble{Code: code, Message: message})
		return nil
	})
}

// change changes a pool as a request of a recent version would.
func (c Portal) change(pool string, changes document.Object) error {
	return c.onPool(pool, func(w *Service, k *Cluster, p *Pool) error {
		next, err := w.agentPools.changed(k, p, changes, versions[len(versions)-1])
		if err != nil {
			return err
		}
		return w.begun(k, p, next)
	})
}

// begun begins a change of a pool at rest.
func (w *Service) begun(c *Cluster, p *Pool, next document.Object) error {
	if err := w.agentPools.open(c, p); err != nil {
		return err
	}
	if err := checkCount(next); err != nil {
		return err
	}
	w.agentPools.change(c, p, next)
	return nil
}

func (c Portal) onCluster(name string, f func(*Service, *Cluster) error) error {
	return c.by(func(w *Service) error {
		for _, k := range w.rows.clusters.All() {
			if strings.EqualFold(k.Name, name) {
				return f(w, k)
			}
		}
		return fmt.Errorf("there is no managed cluster %s", name)
	})
}

func (c Portal) onPool(name string, f func(*Service, *Cluster, *Pool) error) error {
	cluster, pool, _ := strings.Cut(name, "/")
	return c.onCluster(cluster, func(w *Service, k *Cluster) error {
		if p := w.rows.pools.Get(poolKey(k.key(), pool)); p != nil {
			return f(w, k, p)
		}
		return fmt.Errorf("there is no agent pool %s", name)
	})
}
