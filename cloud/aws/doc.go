// Package aws runs machine pools as EC2 Auto Scaling groups with launch templates of their own. It translates the API's
// specification into what the SDK sends, and what the SDK reads into pool's words. It decides nothing: which step comes
// when is pool's matter.
//
// What belongs to a pool in the cloud is one group and one launch template, both under names that are functions of the
// owner, both with the tag muster.dev/owner. What has the name without the tag is somebody else's and is left alone.
//
// Steady pools cost one read a pass: the group with its instances. Launch template versions are immutable and are read
// again only when they may have changed; look-ups (an image by its name) are made once and remembered on the object.
package aws
