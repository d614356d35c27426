package eks

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/catalogue"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
	"github.com/muster-project/muster/sim/aws/wire"
	"github.com/muster-project/muster/sim/core"
)

const (
	// maxClusters a region is EKS's quota.
	maxClusters = 100
	// lifeCluster is the time that the creation of a cluster takes, lifeClusterGone that of its deletion.
	lifeCluster, lifeClusterGone = 8 * time.Minute, 2 * time.Minute
	// oldestEKS is the oldest minor version that EKS still runs.
	oldestEKS = 28
)

// ClusterName matches the names that EKS accepts for clusters.
var ClusterName = regexp.MustCompile(`^[0-9A-Za-z][A-Za-z0-9\-_]{0,99}$`)

// notFound, inUse and badParameter are EKS's refusals.
func notFound(format string, args ...any) *wire.APIError {
	return &wire.APIError{Code: "ResourceNotFoundException", Message: fmt.Sprintf(format, args...), Status: http.StatusNotFound}
}

func inUse(format string, args ...any) *wire.APIError {
	return &wire.APIError{Code: "ResourceInUseException", Message: fmt.Sprintf(format, args...), Status: http.StatusConflict}
}

func badParameter(format string, args ...any) *wire.APIError {
	return wire.Refuse("InvalidParameterException", format, args...)
}

func (r *Clusters) findCluster(name *string) (*Cluster, error) {
	if c := r.Rows.Get(shapes.Str(name)); c != nil {
		return c, nil
	}
	return nil, notFound("No cluster found for name: %s.", shapes.Str(name))
}

func (r *Clusters) createCluster(in *eks.CreateClusterInput) (*eks.CreateClusterOutput, error) {
	name := shapes.Str(in.Name)
	version := "1." + shapes.Itoa(catalogue.MaxMinor)
	if in.Version != nil {
		version = *in.Version
	}
	switch {
	case !ClusterName.MatchString(name):
		return nil, badParameter("The cluster name '%s' is not valid: it begins with a letter or a digit and has at most 100 of these, - and _.",
			name)
	case MinorOf(version) < oldestEKS || MinorOf(version) > catalogue.MaxMinor:
		return nil, badParameter("unsupported Kubernetes version")
	case in.ResourcesVpcConfig == nil || len(in.ResourcesVpcConfig.SubnetIds) == 0:
		return nil, badParameter("The resourcesVpcConfig with subnets of at least two zones is wanted.")
	}
	if err := checkSubnets(r.network, in.ResourcesVpcConfig.SubnetIds); err != nil {
		return nil, err
	}
	_, err := r.Once("CreateCluster", shapes.Str(in.ClientRequestToken), in, func() (string, error) {
		if r.Rows.Get(name) != nil {
			return "", inUse("Cluster already exists with name: %s", name)
		}
		if r.Rows.Len() >= maxClusters {
			return "", wire.Refuse("ResourceLimitExceededException", "Cluster count limit of %d exceeded", maxClusters)
		}
		c := r.NewCluster(name, version, in.ResourcesVpcConfig.SubnetIds)
		c.Shape.RoleArn, c.Shape.Tags, c.Shape.ClientRequestToken = in.RoleArn, in.Tags, in.ClientRequestToken
		c.Shape.Status, c.Until = StatusCreating, r.Now.Add(r.Life(lifeCluster))
		r.Rows.Put(name, c)
		return name, nil
	})
	if err != nil {
		return nil, err
	}
	return &eks.CreateClusterOutput{Cluster: r.showCluster(r.Rows.Get(name))}, nil
}

// NewCluster is a cluster that runs, with a security group of its own.
func (r *Clusters) NewCluster(name, version string, subnets []string) *Cluster {
	id := strings.ToUpper(r.Seed.Hex(32, "cluster", r.Account, r.Region, name, r.Number()))
	vpcID := r.vpcOf(subnets)
	group := r.NewID("sg")
	r.network.SecurityGroups.Put(group, &ec2.SecurityGroup{
		ID: group, Name: "eks-cluster-sg-" + name + "-" + shapes.Itoa(r.Number()), VPC: vpcID,
		Description: "EKS created security group applied to ENI that is attached to EKS Control Plane master nodes, as well as any managed " +
			"workloads.",
		Tags: map[string]string{"aws:eks:cluster-name": name, "kubernetes.io/cluster/" + name: "owned", "Name": "eks-cluster-sg-" + name},
	})
	return &Cluster{Shape: eks.Cluster{
		Name: new(name), Arn: new(r.arn("cluster/" + name)), Version: new(version), CreatedAt: shapes.NewEpoch(r.Now), Status: StatusActive,
		Endpoint: new("https://" + id + ".gr7." + r.Region + ".eks.amazonaws.com"), PlatformVersion: new("eks.1"),
		ResourcesVpcConfig: &eks.VpcConfigResponse{ClusterSecurityGroupId: new(group), SubnetIds: subnets, VpcId: shapes.Opt(vpcID),
			EndpointPublicAccess: true},
		AccessConfig: &eks.AccessConfigResponse{AuthenticationMode: "API_AND_CONFIG_MAP"}, Health: &eks.ClusterHealth{},
		KubernetesNetworkConfig: &eks.KubernetesNetworkConfigResponse{IpFamily: "ipv4", ServiceIpv4Cidr: new("172.20.0.0/16")},
	}}
}

// vpcOf is the VPC of subnets, or the account's first.
func (r *Clusters) vpcOf(subnets []string) string {
	for _, id := range subnets {
		if s := r.network.Subnets.Get(id); s != nil {
			return s.VPC
		}
	}
	for id := range r.network.VPCs.All() {
		return id
	}
	return ""
}

func (r *Clusters) arn(what string) string {
	return "arn:aws:eks:" + r.Region + ":" + r.Account + ":" + what
}

// showCluster is a cluster as EKS shows it: without endpoint and certificates before it runs.
func (r *Clusters) showCluster(c *Cluster) *eks.Cluster {
	shown := c.Shape
	shown.Tags = orEmpty(shown.Tags)
	if shown.Status == StatusCreating {
		shown.Endpoint = nil
		return &shown
	}
	shown.CertificateAuthority = &eks.Certificate{Data: new(base64.StdEncoding.EncodeToString(c.CA))}
	return &shown
}

func (r *Clusters) describeCluster(in *eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
	c, err := r.findCluster(in.Name)
	if err != nil {
		return nil, err
	}
	return &eks.DescribeClusterOutput{Cluster: r.showCluster(c)}, nil
}

func (r *Clusters) listClusters(in *eks.ListClustersInput) (*eks.ListClustersOutput, error) {
	var names []string
	for name := range r.Rows.All() {
		names = append(names, name)
	}
	page, next, err := r.pageNames(names, in.NextToken, in.MaxResults)
	return &eks.ListClustersOutput{Clusters: page, NextToken: next}, err
}

// eksPage is the largest page of EKS's lists.
const eksPage = 100

// pageNames cuts one page out of a list of names, by EKS's rule for maxResults.
func (r *Clusters) pageNames(names []string, token *string, given *int32) ([]string, *string, error) {
	size := eksPage
	if given != nil {
		size = int(*given)
	}
	if size < 1 || size > eksPage {
		return nil, nil, badParameter("maxResults must be between 1 and %d: %d", eksPage, size)
	}
	page, next, err := account.Paged(r.Core, names, func(n string) string { return n }, token, r.Page(size))
	if err != nil {
		return nil, nil, badParameter("%s", wire.ErrorMessage(err))
	}
	if page == nil {
		page = []string{}
	}
	return page, next, nil
}

func (r *Clusters) deleteCluster(in *eks.DeleteClusterInput) (*eks.DeleteClusterOutput, error) {
	c, err := r.findCluster(in.Name)
	if err != nil {
		return nil, err
	}
	for range r.nodegroups.Rows.Under(c.name() + "/") {
		return nil, inUse("Cluster has nodegroups attached")
	}
	if c.Shape.Status != StatusDeleting {
		c.Shape.Status, c.Until = StatusDeleting, r.Now.Add(r.Life(lifeClusterGone))
		r.Rows.Touch(c.name())
	}
	return &eks.DeleteClusterOutput{Cluster: r.showCluster(c)}, nil
}

// updateClusterVersion raises a control plane by one minor version.
func (r *Clusters) updateClusterVersion(in *eks.UpdateClusterVersionInput) (*eks.UpdateClusterVersionOutput, error) {
	c, err := r.findCluster(in.Name)
	if err != nil {
		return nil, err
	}
	want, have := MinorOf(shapes.Str(in.Version)), MinorOf(shapes.Str(c.Shape.Version))
	switch {
	case c.Shape.Status != StatusActive:
		return nil, inUse("Cluster %s is in status %s", c.name(), c.Shape.Status)
	case want != have+1 || want > catalogue.MaxMinor:
		return nil, badParameter("Unsupported Kubernetes minor version update from %s to %s", shapes.Str(c.Shape.Version), shapes.Str(in.Version))
	}
	u := r.updates.newUpdate(c.name(), "", versionUpdate, []eks.UpdateParam{{Type: "Version", Value: in.Version}})
	c.Shape.Status, c.Goal, c.Until = StatusUpdating, *in.Version, r.Now.Add(r.Life(lifeCluster))
	r.Rows.Touch(c.name())
	return &eks.UpdateClusterVersionOutput{Update: new(u.Update)}, nil
}

// tickClusters brings clusters to the present.
func (r *Clusters) tickClusters() time.Time {
	var next time.Time
	for name, c := range r.Rows.All() {
		if !core.Due(c.Until, r.Now) {
			next = core.Earliest(next, c.Until)
			continue
		}
		c.Until = time.Time{}
		r.Rows.Touch(name)
		switch c.Shape.Status {
		case StatusDeleting:
			r.DropCluster(c)
		case StatusUpdating:
			c.Shape.Version = new(c.Goal)
			for _, u := range r.updates.Rows.Under(name + "//") {
				r.updates.endUpdate(u, nil)
			}
			fallthrough
		default:
			c.Shape.Status = StatusActive
		}
	}
	return next
}

// DropCluster forgets a cluster, its security group and its updates.
func (r *Clusters) DropCluster(c *Cluster) {
	r.network.SecurityGroups.Delete(shapes.Str(c.Shape.ResourcesVpcConfig.ClusterSecurityGroupId))
	for key := range r.updates.Rows.Under(c.name() + "/") {
		r.updates.Rows.Delete(key)
	}
	r.Rows.Delete(c.name())
}

// MinorOf is the minor number of a version such as 1.34, -1 for what is none.
func MinorOf(version string) int {
	text, ok := strings.CutPrefix(version, "1.")
	n, err := strconv.Atoi(text)
	if !ok || err != nil {
		return -1
	}
	return n
}
