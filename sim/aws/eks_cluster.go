package aws

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
)

const (
	// maxClusters a region is EKS's quota.
	maxClusters = 100
	// lifeCluster is how long a cluster is in the making, lifeClusterGone how long it takes to go.
	lifeCluster, lifeClusterGone = 8 * time.Minute, 2 * time.Minute
	// oldestEKS is the oldest minor version that EKS still runs.
	oldestEKS = 28
)

// clusterName is what EKS lets a cluster be called.
var clusterName = regexp.MustCompile(`^[0-9A-Za-z][A-Za-z0-9\-_]{0,99}$`)

// notFound, inUse and badParameter are EKS's refusals.
func notFound(format string, args ...any) *apiError {
	return &apiError{Code: "ResourceNotFoundException", Message: fmt.Sprintf(format, args...), Status: http.StatusNotFound}
}

func inUse(format string, args ...any) *apiError {
	return &apiError{Code: "ResourceInUseException", Message: fmt.Sprintf(format, args...), Status: http.StatusConflict}
}

func badParameter(format string, args ...any) *apiError {
	return refuse("InvalidParameterException", format, args...)
}

func (r *realm) findCluster(name *string) (*cluster, error) {
	if c := r.clusters.Get(str(name)); c != nil {
		return c, nil
	}
	return nil, notFound("No cluster found for name: %s.", str(name))
}

func (r *realm) createCluster(in *eks.CreateClusterInput) (*eks.CreateClusterOutput, error) {
	name := str(in.Name)
	version := "1." + itoa(maxMinor)
	if in.Version != nil {
		version = *in.Version
	}
	switch {
	case !clusterName.MatchString(name):
		return nil, badParameter("The cluster name '%s' is not valid: it begins with a letter or a digit and has at most 100 of these, - and _.", name)
	case minorOf(version) < oldestEKS || minorOf(version) > maxMinor:
		return nil, badParameter("unsupported Kubernetes version")
	case in.ResourcesVpcConfig == nil || len(in.ResourcesVpcConfig.SubnetIds) == 0:
		return nil, badParameter("The resourcesVpcConfig with subnets of at least two zones is wanted.")
	}
	if err := r.checkEKSSubnets(in.ResourcesVpcConfig.SubnetIds); err != nil {
		return nil, err
	}
	_, err := r.once("CreateCluster", str(in.ClientRequestToken), in, func() (string, error) {
		if r.clusters.Get(name) != nil {
			return "", inUse("Cluster already exists with name: %s", name)
		}
		if r.clusters.Len() >= maxClusters {
			return "", refuse("ResourceLimitExceededException", "Cluster count limit of %d exceeded", maxClusters)
		}
		c := r.newCluster(name, version, in.ResourcesVpcConfig.SubnetIds)
		c.Shape.RoleArn, c.Shape.Tags, c.Shape.ClientRequestToken = in.RoleArn, in.Tags, in.ClientRequestToken
		c.Shape.Status, c.Until = eksCreating, r.now.Add(r.life(lifeCluster))
		r.clusters.Put(name, c)
		return name, nil
	})
	if err != nil {
		return nil, err
	}
	return &eks.CreateClusterOutput{Cluster: r.showCluster(r.clusters.Get(name))}, nil
}

// newCluster is a cluster that runs, with a security group of its own.
func (r *realm) newCluster(name, version string, subnets []string) *cluster {
	id := strings.ToUpper(r.server.seed.Hex(32, "cluster", r.account, r.region, name, r.number()))
	vpcID := r.vpcOf(subnets)
	group := r.newID("sg")
	r.securityGroups.Put(group, &securityGroup{
		ID: group, Name: "eks-cluster-sg-" + name + "-" + itoa(r.number()), VPC: vpcID, Description: "EKS created security group applied to ENI that is attached to EKS Control Plane master nodes, as well as any managed workloads.",
		Tags: map[string]string{"aws:eks:cluster-name": name, "kubernetes.io/cluster/" + name: "owned", "Name": "eks-cluster-sg-" + name},
	})
	return &cluster{Shape: eks.Cluster{
		Name: ptr(name), Arn: ptr(r.eksARN("cluster/" + name)), Version: ptr(version), CreatedAt: shapes.NewEpoch(r.now), Status: eksActive,
		Endpoint: ptr("https://" + id + ".gr7." + r.region + ".eks.amazonaws.com"), PlatformVersion: ptr("eks.1"),
		ResourcesVpcConfig: &eks.VpcConfigResponse{ClusterSecurityGroupId: ptr(group), SubnetIds: subnets, VpcId: opt(vpcID), EndpointPublicAccess: true},
		AccessConfig:       &eks.AccessConfigResponse{AuthenticationMode: "API_AND_CONFIG_MAP"}, Health: &eks.ClusterHealth{},
		KubernetesNetworkConfig: &eks.KubernetesNetworkConfigResponse{IpFamily: "ipv4", ServiceIpv4Cidr: ptr("172.20.0.0/16")},
	}}
}

// vpcOf is the VPC of subnets, or the account's first.
func (r *realm) vpcOf(subnets []string) string {
	for _, id := range subnets {
		if s := r.subnets.Get(id); s != nil {
			return s.VPC
		}
	}
	for id := range r.vpcs.All() {
		return id
	}
	return ""
}

func (r *realm) eksARN(what string) string {
	return "arn:aws:eks:" + r.region + ":" + r.account + ":" + what
}

// showCluster is a cluster as EKS shows it: without endpoint and certificates before it runs.
func (r *realm) showCluster(c *cluster) *eks.Cluster {
	shown := c.Shape
	shown.Tags = orEmpty(shown.Tags)
	if shown.Status == eksCreating {
		shown.Endpoint = nil
		return &shown
	}
	shown.CertificateAuthority = &eks.Certificate{Data: ptr(base64.StdEncoding.EncodeToString(c.CA))}
	return &shown
}

func (r *realm) describeCluster(in *eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
	c, err := r.findCluster(in.Name)
	if err != nil {
		return nil, err
	}
	return &eks.DescribeClusterOutput{Cluster: r.showCluster(c)}, nil
}

func (r *realm) listClusters(in *eks.ListClustersInput) (*eks.ListClustersOutput, error) {
	var names []string
	for name := range r.clusters.All() {
		names = append(names, name)
	}
	page, next, err := r.pageNames(names, in.NextToken, in.MaxResults)
	return &eks.ListClustersOutput{Clusters: page, NextToken: next}, err
}

// eksPage is the largest page of EKS's lists.
const eksPage = 100

// pageNames cuts one page out of a list of names, by EKS's rule for maxResults.
func (r *realm) pageNames(names []string, token *string, given *int32) ([]string, *string, error) {
	size := eksPage
	if given != nil {
		size = int(*given)
	}
	if size < 1 || size > eksPage {
		return nil, nil, badParameter("maxResults must be between 1 and %d: %d", eksPage, size)
	}
	page, next, err := paged(names, func(n string) string { return n }, token, r.page(size))
	if err != nil {
		return nil, nil, badParameter("%s", errorMessage(err))
	}
	if page == nil {
		page = []string{}
	}
	return page, next, nil
}

func (r *realm) deleteCluster(in *eks.DeleteClusterInput) (*eks.DeleteClusterOutput, error) {
	c, err := r.findCluster(in.Name)
	if err != nil {
		return nil, err
	}
	for range r.nodegroups.Under(c.name() + "/") {
		return nil, inUse("Cluster has nodegroups attached")
	}
	if c.Shape.Status != eksDeleting {
		c.Shape.Status, c.Until = eksDeleting, r.now.Add(r.life(lifeClusterGone))
		r.clusters.Touch(c.name())
	}
	return &eks.DeleteClusterOutput{Cluster: r.showCluster(c)}, nil
}

// updateClusterVersion raises a control plane by one minor version.
func (r *realm) updateClusterVersion(in *eks.UpdateClusterVersionInput) (*eks.UpdateClusterVersionOutput, error) {
	c, err := r.findCluster(in.Name)
	if err != nil {
		return nil, err
	}
	want, have := minorOf(str(in.Version)), minorOf(str(c.Shape.Version))
	switch {
	case c.Shape.Status != eksActive:
		return nil, inUse("Cluster %s is in status %s", c.name(), c.Shape.Status)
	case want != have+1 || want > maxMinor:
		return nil, badParameter("Unsupported Kubernetes minor version update from %s to %s", str(c.Shape.Version), str(in.Version))
	}
	u := r.newUpdate(c.name(), "", versionUpdate, []eks.UpdateParam{{Type: "Version", Value: in.Version}})
	c.Shape.Status, c.Goal, c.Until = eksUpdating, *in.Version, r.now.Add(r.life(lifeCluster))
	r.clusters.Touch(c.name())
	return &eks.UpdateClusterVersionOutput{Update: ptr(u.Update)}, nil
}

// tickClusters brings clusters to the present.
func (r *realm) tickClusters() time.Time {
	var next time.Time
	for name, c := range r.clusters.All() {
		if !due(c.Until, r.now) {
			next = earliest(next, c.Until)
			continue
		}
		c.Until = time.Time{}
		r.clusters.Touch(name)
		switch c.Shape.Status {
		case eksDeleting:
			r.dropCluster(c)
		case eksUpdating:
			c.Shape.Version = ptr(c.Goal)
			for _, u := range r.updates.Under(name + "//") {
				r.endUpdate(u, nil)
			}
			fallthrough
		default:
			c.Shape.Status = eksActive
		}
	}
	return next
}

// dropCluster forgets a cluster, its security group and its updates.
func (r *realm) dropCluster(c *cluster) {
	r.securityGroups.Delete(str(c.Shape.ResourcesVpcConfig.ClusterSecurityGroupId))
	for key := range r.updates.Under(c.name() + "/") {
		r.updates.Delete(key)
	}
	r.clusters.Delete(c.name())
}

// minorOf is the minor number of a version such as 1.34, -1 for what is none.
func minorOf(version string) int {
	text, ok := strings.CutPrefix(version, "1.")
	n, err := strconv.Atoi(text)
	if !ok || err != nil {
		return -1
	}
	return n
}
