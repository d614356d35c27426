package aws

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/eks"
	"github.com/muster-project/muster/sim/aws/shapes"
	eksshapes "github.com/muster-project/muster/sim/aws/shapes/eks"
	"github.com/muster-project/muster/sim/core"
)

// EKSCluster is a cluster whose API server runs somewhere, as its owner makes it known.
type EKSCluster struct {
	// Region of the cluster; empty means Region.
	Region string `json:"region"`
	Name   string `json:"name"`
	// Version is the control plane's, such as 1.34; a patch behind it does not matter.
	Version string `json:"version"`
	// Endpoint is the URL of the API server, CA the certificates by which it is trusted, in PEM.
	Endpoint string `json:"endpoint"`
	CA       []byte `json:"certificateAuthority"`
	// Token is a bootstrap token by which machines of node groups are let in. No API shows it.
	Token string `json:"token"`
	// Subnets of the control plane, and the cluster's security group; empty means one of its own.
	Subnets       []string `json:"subnetIds"`
	SecurityGroup string   `json:"securityGroupId"`
}

// errClusterBusy is why a cluster cannot be forgotten.
type errClusterBusy struct{ name string }

// Error says what is in the way.
func (e *errClusterBusy) Error() string {
	return "cluster " + e.name + " still has node groups: delete them first"
}

// clusterConsole is what a user does to the clusters and node groups of an account in the console.
type clusterConsole struct{ server *Server }

// PutCluster makes a cluster of the account known, or changes what is known of it. It is ACTIVE at once.
func (s *clusterConsole) PutCluster(account string, c EKSCluster) error {
	if c.Region == "" {
		c.Region = Region
	}
	version := minorVersion(c.Version)
	if !eks.ClusterName.MatchString(c.Name) || eks.MinorOf(version) < 0 {
		return fmt.Errorf("cluster %q of version %q: a name and a version such as 1.34 are wanted", c.Name, c.Version)
	}
	return s.server.by(account, c.Region, func(r *region) error {
		known := r.EKS.Clusters.Rows.Get(c.Name)
		if known == nil {
			known = r.EKS.Clusters.NewCluster(c.Name, version, c.Subnets)
			r.EKS.Clusters.Rows.Put(c.Name, known)
		}
		known.Shape.Version, known.Shape.Endpoint, known.CA, known.Token = new(version), new(c.Endpoint), c.CA, c.Token
		known.Shape.Status = eks.StatusActive
		if g := r.EC2.Network.SecurityGroups.Get(c.SecurityGroup); g != nil {
			VPC := *known.Shape.ResourcesVpcConfig
			VPC.ClusterSecurityGroupId, VPC.VpcId = new(g.ID), new(g.VPC)
			known.Shape.ResourcesVpcConfig = &VPC
		}
		r.EKS.Clusters.Rows.Touch(c.Name)
		return nil
	})
}

// minorVersion cuts v1.34.2 to 1.34.
func minorVersion(version string) string {
	var minor int
	if _, err := fmt.Sscanf(version, "v1.%d", &minor); err == nil {
		return "1." + shapes.Itoa(minor)
	}
	if _, err := fmt.Sscanf(version, "1.%d", &minor); err == nil {
		return "1." + shapes.Itoa(minor)
	}
	return ""
}

// ForgetCluster forgets a cluster; one that is not known is no error, one with node groups is.
func (s *clusterConsole) ForgetCluster(account, regionName, name string) error {
	if regionName == "" {
		regionName = Region
	}
	return s.server.by(account, regionName, func(r *region) error {
		for range r.EKS.Nodegroups.Rows.Under(name + "/") {
			return &errClusterBusy{name}
		}
		if c := r.EKS.Clusters.Rows.Get(name); c != nil {
			r.EKS.Clusters.DropCluster(c)
		}
		return nil
	})
}

// adminEKS is what the owner of clusters sets over HTTP: PUT eks/clusters with an EKSCluster, DELETE eks/clusters/{name}, of the
// default account unless the query names another. Hands can be laid on node groups of the default account: POST
// eks/clusters/{cluster}/nodegroups/{name}/issue?code=...&message=..., stick?code=..., clear or fail-update.
func (s *clusterConsole) adminEKS(mux *core.AdminMux) {
	account := func(r *http.Request) string {
		if a := r.URL.Query().Get("account"); a != "" {
			return a
		}
		return AccountID
	}
	mux.HandleFunc("PUT "+sim.AdminPath+"eks/clusters", func(w http.ResponseWriter, r *http.Request) {
		var c EKSCluster
		if core.Decoded(w, r, &c) {
			core.Done(w, s.PutCluster(account(r), c), http.StatusBadRequest)
		}
	})
	mux.HandleFunc("DELETE "+sim.AdminPath+"eks/clusters/{name}", func(w http.ResponseWriter, r *http.Request) {
		core.Done(w, s.ForgetCluster(account(r), r.URL.Query().Get("region"), r.PathValue("name")), http.StatusConflict)
	})
	s.adminNodegroups(mux)
}

// adminNodegroups lays hands on node groups over HTTP.
func (s *clusterConsole) adminNodegroups(mux *core.AdminMux) {
	hands := map[string]func(clusterName, name, code, message string) error{
		"issue":       s.SetIssue,
		"stick":       func(c, n, code, _ string) error { return s.StickDeletion(c, n, code) },
		"clear":       func(c, n, _, _ string) error { return s.ClearIssues(c, n) },
		"fail-update": func(c, n, _, _ string) error { return s.FailUpdate(c, n) },
	}
	mux.HandleFunc("POST "+sim.AdminPath+"eks/clusters/{cluster}/nodegroups/{name}/{hand}", func(w http.ResponseWriter, r *http.Request) {
		hand, ok := core.Action(w, r.PathValue("hand"), hands)
		if !ok {
			return
		}
		if err := hand(r.PathValue("cluster"), r.PathValue("name"), r.FormValue("code"), r.FormValue("message")); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// Nodegroup is the simulator's state of a node group.
type Nodegroup struct {
	Cluster, Name, Status string
	// Group is the Auto Scaling group behind it, Template the launch template that EKS keeps for it.
	Group, Template string
	// Version and Release of its nodes, Source and SourceVersion the user's launch template, "" for none.
	Version, Release, Source, SourceVersion string
	Role                                    string
	Min, Max, Desired                       int
	Labels, Tags                            map[string]string
	// Issues are the codes of what is wrong with it.
	Issues []string
	// Updating is the type of the update that is under way, "" for none.
	Updating string
}

func (r *region) inspectNodegroup(n *eks.Nodegroup) Nodegroup {
	shown := r.EKS.Nodegroups.ShowNodegroup(n)
	out := Nodegroup{
		Cluster: n.Cluster(), Name: n.Name(), Status: n.Shape.Status, Group: n.Behind, Template: n.Template, Version: shapes.Str(shown.Version),
		Release: shapes.Str(shown.ReleaseVersion), Role: shapes.Str(shown.NodeRole), Min: int(*shown.ScalingConfig.MinSize),
		Max:     int(*shown.ScalingConfig.MaxSize),
		Desired: int(*shown.ScalingConfig.DesiredSize), Labels: maps.Clone(shown.Labels), Tags: maps.Clone(shown.Tags),
	}
	if t := shown.LaunchTemplate; t != nil {
		out.Source, out.SourceVersion = shapes.Str(t.Id), shapes.Str(t.Version)
	}
	for _, i := range n.Shape.Health.Issues {
		out.Issues = append(out.Issues, i.Code)
	}
	if u := r.EKS.Updates.Rows.Get(eks.UpdateKey(n.Cluster(), n.Name(), n.Update)); u != nil {
		out.Updating = u.Type
	}
	return out
}

// onNodegroup does something by hand to a node group of the default account at home.
func (s *clusterConsole) onNodegroup(clusterName, name string, f func(*region, *eks.Nodegroup) error) error {
	return s.server.home(func(r *region) error {
		n, err := r.EKS.Nodegroups.FindNodegroup(&clusterName, &name)
		if err != nil {
			return err
		}
		r.EKS.Nodegroups.TouchNodegroup(n)
		return f(r, n)
	})
}

// SetIssue lets EKS find something wrong with a node group, by one of its codes, until ClearIssues.
func (s *clusterConsole) SetIssue(clusterName, name, code, message string) error {
	return s.onNodegroup(clusterName, name, func(_ *region, n *eks.Nodegroup) error {
		n.Issues = append(slices.Clone(n.Issues), eksshapes.Issue{Code: code, Message: new(message), ResourceIds: []string{name}})
		return nil
	})
}

// ClearIssues takes back what SetIssue and StickDeletion have set.
func (s *clusterConsole) ClearIssues(clusterName, name string) error {
	return s.onNodegroup(clusterName, name, func(_ *region, n *eks.Nodegroup) error {
		n.Issues, n.Stuck = nil, ""
		return nil
	})
}

// StickDeletion lets the next deletion of a node group fail with a code, until ClearIssues.
func (s *clusterConsole) StickDeletion(clusterName, name, code string) error {
	return s.onNodegroup(clusterName, name, func(_ *region, n *eks.Nodegroup) error {
		n.Stuck = code
		return nil
	})
}

// FailUpdate lets the update of a node group's version that is under way fail, as by nodes that do not come; a node group without
// one is an error.
func (s *clusterConsole) FailUpdate(clusterName, name string) error {
	return s.onNodegroup(clusterName, name, func(r *region, n *eks.Nodegroup) error {
		g, u := r.AutoScaling.Groups.Rows.Get(n.Behind), r.EKS.Updates.Rows.Get(eks.UpdateKey(clusterName, name, n.Update))
		if n.Roll == nil || g == nil || u == nil {
			return fmt.Errorf("node group %s is not updating its version", name)
		}
		r.EKS.Rollouts.Abort(n, g, u, r.EKS.Rollouts.NotCreated(n, g))
		return nil
	})
}
