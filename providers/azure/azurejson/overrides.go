package azurejson

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/muster-project/muster/api/common"
)

// limits holds the cloud provider's rate limits: the general one, and those for resource types.
type limits struct {
	limit

	Route                  *limit `json:"routeRateLimit,omitempty"`
	Subnets                *limit `json:"subnetsRateLimit,omitempty"`
	Interface              *limit `json:"interfaceRateLimit,omitempty"`
	RouteTable             *limit `json:"routeTableRateLimit,omitempty"`
	LoadBalancer           *limit `json:"loadBalancerRateLimit,omitempty"`
	PublicIPAddress        *limit `json:"publicIPAddressRateLimit,omitempty"`
	SecurityGroup          *limit `json:"securityGroupRateLimit,omitempty"`
	VirtualMachine         *limit `json:"virtualMachineRateLimit,omitempty"`
	StorageAccount         *limit `json:"storageAccountRateLimit,omitempty"`
	Disk                   *limit `json:"diskRateLimit,omitempty"`
	Snapshot               *limit `json:"snapshotRateLimit,omitempty"`
	VirtualMachineScaleSet *limit `json:"virtualMachineScaleSetRateLimit,omitempty"`
	VirtualMachineSizes    *limit `json:"virtualMachineSizesRateLimit,omitempty"`
	AvailabilitySet        *limit `json:"availabilitySetRateLimit,omitempty"`
}

// limit is one rate limit, in calls per second.
type limit struct {
	On          bool    `json:"cloudProviderRateLimit,omitempty"`
	QPS         float32 `json:"cloudProviderRateLimitQPS,omitempty"`
	Bucket      int     `json:"cloudProviderRateLimitBucket,omitempty"`
	QPSWrite    float32 `json:"cloudProviderRateLimitQPSWrite,omitempty"`
	BucketWrite int     `json:"cloudProviderRateLimitBucketWrite,omitempty"`
}

// backOff configures the cloud provider's retries. Durations are in seconds.
type backOff struct {
	On       bool    `json:"cloudProviderBackoff,omitempty"`
	Retries  int     `json:"cloudProviderBackoffRetries,omitempty"`
	Exponent float64 `json:"cloudProviderBackoffExponent,omitempty"`
	Duration int     `json:"cloudProviderBackoffDuration,omitempty"`
	Jitter   float64 `json:"cloudProviderBackoffJitter,omitempty"`
}

// overrides are the fields of an AzureCluster that only the configuration reads.
type overrides struct {
	Spec struct {
		ExtendedLocation struct {
			Type string `json:"type,omitempty"`
			Name string `json:"name,omitempty"`
		} `json:"extendedLocation,omitempty"`
		Config struct {
			RateLimits []struct {
				Name   string      `json:"name"`
				Config limitFields `json:"config,omitempty"`
			} `json:"rateLimits,omitempty"`
			BackOffs backOffFields `json:"backOffs,omitempty"`
		} `json:"cloudProviderConfigOverrides,omitempty"`
	} `json:"spec,omitempty"`
}

// limitFields are limit in an AzureCluster, where fractions are quantities.
type limitFields struct {
	On          bool               `json:"cloudProviderRateLimit,omitempty"`
	QPS         *resource.Quantity `json:"cloudProviderRateLimitQPS,omitempty"`
	Bucket      int                `json:"cloudProviderRateLimitBucket,omitempty"`
	QPSWrite    *resource.Quantity `json:"cloudProviderRateLimitQPSWrite,omitempty"`
	BucketWrite int                `json:"cloudProviderRateLimitBucketWrite,omitempty"`
}

// backOffFields are backOff in an AzureCluster.
type backOffFields struct {
	On       bool               `json:"cloudProviderBackoff,omitempty"`
	Retries  int                `json:"cloudProviderBackoffRetries,omitempty"`
	Exponent *resource.Quantity `json:"cloudProviderBackoffExponent,omitempty"`
	Duration int                `json:"cloudProviderBackoffDuration,omitempty"`
	Jitter   *resource.Quantity `json:"cloudProviderBackoffJitter,omitempty"`
}

// override sets the fields that the AzureCluster overrides.
func (c *config) override(place *unstructured.Unstructured) error {
	var o overrides
	if err := common.FieldsOf(place, &o); err != nil {
		return err
	}
	c.ExtendedLocationType, c.ExtendedLocationName = o.Spec.ExtendedLocation.Type, o.Spec.ExtendedLocation.Name
	for _, r := range o.Spec.Config.RateLimits {
		l := limit{On: r.Config.On, QPS: float32(fraction(r.Config.QPS)), Bucket: r.Config.Bucket,
			QPSWrite: float32(fraction(r.Config.QPSWrite)), BucketWrite: r.Config.BucketWrite}
		if r.Name == "defaultRateLimit" {
			c.limit = l
			continue
		}
		at := c.named(r.Name)
		if at == nil {
			return fmt.Errorf("AzureCluster %s: spec.cloudProviderConfigOverrides.rateLimits: the cloud provider knows no %q",
				place.GetName(), r.Name)
		}
		*at = &l
	}
	b := o.Spec.Config.BackOffs
	c.backOff = backOff{On: b.On, Retries: b.Retries, Exponent: fraction(b.Exponent), Duration: b.Duration, Jitter: fraction(b.Jitter)}
	return nil
}

// named returns the field of the named limit; nil for an unknown name.
func (l *limits) named(name string) **limit {
	return map[string]**limit{
		"routeRateLimit": &l.Route, "subnetsRateLimit": &l.Subnets, "interfaceRateLimit": &l.Interface, "routeTableRateLimit": &l.RouteTable,
		"loadBalancerRateLimit": &l.LoadBalancer, "publicIPAddressRateLimit": &l.PublicIPAddress, "securityGroupRateLimit": &l.SecurityGroup,
		"virtualMachineRateLimit": &l.VirtualMachine, "storageAccountRateLimit": &l.StorageAccount, "diskRateLimit": &l.Disk,
		"snapshotRateLimit": &l.Snapshot, "virtualMachineScaleSetRateLimit": &l.VirtualMachineScaleSet,
		"virtualMachineSizesRateLimit": &l.VirtualMachineSizes, "availabilitySetRateLimit": &l.AvailabilitySet,
	}[name]
}

func fraction(q *resource.Quantity) float64 {
	if q == nil {
		return 0
	}
	return q.AsApproximateFloat64()
}
