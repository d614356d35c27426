// Package aws runs machine pools as EC2 Auto Scaling groups with launch templates of their own. It translates the API's
// specification into what the SDK sends, and what the SDK reads into pool's words. It decides nothing: which step comes
// when is pool's matter.
//
// What belongs to a pool in the cloud is one group and one launch template, both under names that are functions of the
// owner, both with the tag muster.dev/owner. What has the name without the tag belongs to another owner and is left alone.
//
// An instance that is terminated, by any client, is held by Muster's termination hook (muster-drain) until its node is drained. A spot
// interruption alone does not wait for it: EC2 takes the instance after two minutes. Health is not checked in standby, so that a machine
// which ends there stays until it is terminated in the group.
//
// To surge, instances are put into standby without lowering the capacity: the group launches others in their place, at its
// largest size too, which bounds the capacity and not the number of members. They go by TerminateInstanceInAutoScalingGroup,
// which the API refuses for instances of warm pools alone; that it takes those in standby no page of the service says. The other
// ways are worse: ExitStandby raises the capacity and has the group choose who goes, DetachInstances leaves a machine that
// is left without an owner if Muster ends before it terminates it.
//
// Steady pools cost one read a pass: the group with its instances. Launch template versions are immutable and are read
// again only when they may have changed; look-ups (an image by its name) are made once and remembered on the object.
//
// What credentials must allow is data, in package permissions.
package aws
