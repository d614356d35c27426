package aws

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
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

// PutCluster makes a cluster of the account known, or changes what is known of it. It is ACTIVE at once.
func (s *Server) PutCluster(account string, c EKSCluster) error {
	if c.Region == "" {
		c.Region = Region
	}
	version := minorVersion(c.Version)
	if !clusterName.MatchString(c.Name) || minorOf(version) < 0 {
		return fmt.Errorf("cluster %q of version %q: a name and a version such as 1.34 are wanted", c.Name, c.Version)
	}
	return s.by(account, c.Region, func(r *realm) error {
		known := r.clusters.Get(c.Name)
		if known == nil {
			known = r.newCluster(c.Name, version, c.Subnets)
			r.clusters.Put(c.Name, known)
		}
		known.Shape.Version, known.Shape.Endpoint, known.CA, known.Token = ptr(version), ptr(c.Endpoint), c.CA, c.Token
		known.Shape.Status = eksActive
		if g := r.securityGroups.Get(c.SecurityGroup); g != nil {
			vpc := *known.Shape.ResourcesVpcConfig
			vpc.ClusterSecurityGroupId, vpc.VpcId = ptr(g.ID), ptr(g.VPC)
			known.Shape.ResourcesVpcConfig = &vpc
		}
		r.clusters.Touch(c.Name)
		return nil
	})
}

// minorVersion cuts v1.34.2 to 1.34.
func minorVersion(version string) string {
	var minor int
	if _, err := fmt.Sscanf(version, "v1.%d", &minor); err == nil {
		return "1." + itoa(minor)
	}
	if _, err := fmt.Sscanf(version, "1.%d", &minor); err == nil {
		return "1." + itoa(minor)
	}
	return ""
}

// ForgetCluster forgets a cluster; one that is not known is no error, one with node groups is.
func (s *Server) ForgetCluster(account, region, name string) error {
	if region == "" {
		region = Region
	}
	return s.by(account, region, func(r *realm) error {
		for range r.nodegroups.Under(name + "/") {
			return &errClusterBusy{name}
		}
		if c := r.clusters.Get(name); c != nil {
			r.dropCluster(c)
		}
		return nil
	})
}

// adminEKS is what the owner of clusters sets over HTTP: PUT eks/clusters with an EKSCluster, DELETE eks/clusters/{name}, of the
// default account unless the query names another. Hands can be laid on node groups of the default account: POST
// eks/clusters/{cluster}/nodegroups/{name}/issue?code=...&message=..., stick?code=..., clear or fail-update.
func (s *Server) adminEKS(mux *http.ServeMux) {
	account := func(r *http.Request) string {
		if a := r.URL.Query().Get("account"); a != "" {
			return a
		}
		return AccountID
	}
	mux.HandleFunc("PUT "+sim.AdminPath+"eks/clusters", func(w http.ResponseWriter, r *http.Request) {
		var c EKSCluster
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, bodyLimit)).Decode(&c)
		if err == nil {
			err = s.PutCluster(account(r), c)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("DELETE "+sim.AdminPath+"eks/clusters/{name}", func(w http.ResponseWriter, r *http.Request) {
		if err := s.ForgetCluster(account(r), r.URL.Query().Get("region"), r.PathValue("name")); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	s.adminNodegroups(mux)
}

// adminNodegroups lays hands on node groups over HTTP.
func (s *Server) adminNodegroups(mux *http.ServeMux) {
	hands := map[string]func(clusterName, name, code, message string) error{
		"issue":       s.SetIssue,
		"stick":       func(c, n, code, _ string) error { return s.StickDeletion(c, n, code) },
		"clear":       func(c, n, _, _ string) error { return s.ClearIssues(c, n) },
		"fail-update": func(c, n, _, _ string) error { return s.FailUpdate(c, n) },
	}
	mux.HandleFunc("POST "+sim.AdminPath+"eks/clusters/{cluster}/nodegroups/{name}/{hand}", func(w http.ResponseWriter, r *http.Request) {
		hand, ok := hands[r.PathValue("hand")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if err := hand(r.PathValue("cluster"), r.PathValue("name"), r.FormValue("code"), r.FormValue("message")); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// Nodegroup is what the simulator holds of a node group.
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

// IAMRole is what the simulator holds of a role.
type IAMRole struct {
	Name, ARN string
	Attached  []string
	Tags      map[string]string
}

func (r *realm) inspectNodegroup(n *nodegroup) Nodegroup {
	shown := r.showNodegroup(n)
	out := Nodegroup{
		Cluster: n.cluster(), Name: n.name(), Status: n.Shape.Status, Group: n.Behind, Template: n.Template, Version: str(shown.Version),
		Release: str(shown.ReleaseVersion), Role: str(shown.NodeRole), Min: int(*shown.ScalingConfig.MinSize), Max: int(*shown.ScalingConfig.MaxSize),
		Desired: int(*shown.ScalingConfig.DesiredSize), Labels: maps.Clone(shown.Labels), Tags: maps.Clone(shown.Tags),
	}
	if t := shown.LaunchTemplate; t != nil {
		out.Source, out.SourceVersion = str(t.Id), str(t.Version)
	}
	for _, i := range n.Shape.Health.Issues {
		out.Issues = append(out.Issues, i.Code)
	}
	if u := r.updates.Get(updateKey(n.cluster(), n.name(), n.Update)); u != nil {
		out.Updating = u.Type
	}
	return out
}

func (d *directory) inspect() []IAMRole {
	var out []IAMRole
	for _, r := range d.roles.All() {
		out = append(out, IAMRole{Name: r.Name, ARN: d.arn("role", r.Path, r.Name), Attached: slices.Clone(r.Attached), Tags: maps.Clone(r.Tags)})
	}
	return out
}

// onNodegroup does something by hand to a node group of the default account at home.
func (s *Server) onNodegroup(clusterName, name string, f func(*realm, *nodegroup) error) error {
	return s.home(func(r *realm) error {
		n, err := r.findNodegroup(&clusterName, &name)
		if err != nil {
			return err
		}
		r.touchNodegroup(n)
		return f(r, n)
	})
}

// SetIssue lets EKS find something wrong with a node group, by one of its codes, until ClearIssues.
func (s *Server) SetIssue(clusterName, name, code, message string) error {
	return s.onNodegroup(clusterName, name, func(_ *realm, n *nodegroup) error {
		n.Issues = append(slices.Clone(n.Issues), eks.Issue{Code: code, Message: ptr(message), ResourceIds: []string{name}})
		return nil
	})
}

// ClearIssues takes back what SetIssue and StickDeletion have set.
func (s *Server) ClearIssues(clusterName, name string) error {
	return s.onNodegroup(clusterName, name, func(_ *realm, n *nodegroup) error {
		n.Issues, n.Stuck = nil, ""
		return nil
	})
}

// StickDeletion lets the next deletion of a node group fail with a code, until ClearIssues.
func (s *Server) StickDeletion(clusterName, name, code string) error {
	return s.onNodegroup(clusterName, name, func(_ *realm, n *nodegroup) error {
		n.Stuck = code
		return nil
	})
}

// FailUpdate lets the update of a node group's version that is under way fail, as by nodes that do not come; a node group without
// one is an error.
func (s *Server) FailUpdate(clusterName, name string) error {
	return s.onNodegroup(clusterName, name, func(r *realm, n *nodegroup) error {
		g, u := r.groups.Get(n.Behind), r.updates.Get(updateKey(clusterName, name, n.Update))
		if n.Roll == nil || g == nil || u == nil {
			return fmt.Errorf("node group %s is not updating its version", name)
		}
		r.abort(n, g, u, r.notCreated(n, g))
		return nil
	})
}

// DropRole deletes a role of the default account with all that hangs on it, as somebody would in the console, who is asked for none
// of it.
func (s *Server) DropRole(name string) error {
	return s.home(func(r *realm) error {
		found, err := r.directory.findRole(&name)
		if err != nil {
			return err
		}
		for key, p := range r.directory.profiles.All() {
			if roleKey(p.Role) == roleKey(found.Name) {
				p.Role = ""
				r.directory.profiles.Touch(key)
			}
		}
		r.directory.roles.Delete(roleKey(found.Name))
		return nil
	})
}
