package ec2

import (
	"fmt"
	"time"

	"github.com/muster-project/muster/sim/aws/shapes/ec2"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/fleet"
)

// Template is a launch template; its versions are rows of their own.
type Template struct {
	ID, Name        string
	Created         time.Time
	Default, Latest int64
	Tags            map[string]string
}

// Version is one version of a launch template. Its user data is kept apart, for it is large and often the same.
type Version struct {
	Template    string
	Number      int64
	Created     time.Time
	Description string
	Data        ec2.ResponseLaunchTemplateData
	// Blob is the user data in base64 as it was given, "" for none.
	Blob string
}

// VersionKey returns the key of a version of a template, which sorts by its number.
func VersionKey(id string, number int64) string { return fmt.Sprintf("%s/%08d", id, number) }

// Instance states, as EC2 names them.
const (
	statePending      = "pending"
	StateRunning      = "running"
	StateShuttingDown = "shutting-down"
	StateTerminated   = "terminated"
)

var stateCodes = map[string]int32{statePending: 0, StateRunning: 16, StateShuttingDown: 32, StateTerminated: 48}

// Instance is a virtual machine.
type Instance struct {
	fleet.Machine
	fleet.Disruptions
	ID, Reservation string
	State           string
	Since           time.Time
	Launch          time.Time
	Image           string
	Subnet          string
	Address         string
	Key             string
	Groups          []string
	Profile         string
	Tags            map[string]string
	Blob            string
	Token           string
	Data            ec2.ResponseLaunchTemplateData
	// Next is when the state changes by itself: booted, stopped, forgotten.
	Next time.Time
	// Reason is why it stopped, in the words of EC2.
	ReasonCode, Reason string
	// RecommendedAt is when its replacement is recommended.
	RecommendedAt time.Time
}

// takenAt returns when a spot instance is taken away that has its notice at ReclaimAt, the zero time for never.
func (i *Instance) takenAt() time.Time {
	if i.ReclaimAt.IsZero() {
		return time.Time{}
	}
	return i.ReclaimAt.Add(spotNotice)
}

// Alive reports whether the instance is pending or running.
func (i *Instance) Alive() bool { return i.State == statePending || i.State == StateRunning }

// Impaired reports whether the instance fails its status checks.
func (i *Instance) Impaired(now time.Time) bool {
	return core.Due(i.ImpairedAt, now)
}

// VPC is a network that instances are launched into.
type VPC struct {
	ID, CIDR string
	Tags     map[string]string
}

// Subnet is a subnet of a VPC.
type Subnet struct {
	ID, VPC, Zone, CIDR string
	Public              bool
	Tags                map[string]string
	// Given counts addresses handed out, so that the next one is found at once.
	Given int
}

// SecurityGroup is a security group of a VPC.
type SecurityGroup struct {
	ID, Name, Description, VPC string
	Tags                       map[string]string
}

// KeyPair is a key pair of the account.
type KeyPair struct {
	ID, Name, Fingerprint string
	Created               time.Time
	Tags                  map[string]string
}
