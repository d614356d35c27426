// Package aws simulates the parts of AWS that machine pools stand on: EC2, Auto Scaling, EKS with its managed node
// groups, IAM, STS, SSM parameters and S3, each in its own wire protocol, so that the SDKs of AWS talk to it unchanged through their
// endpoint setting.
//
// One http.Handler answers all services; the scope of a request's signature says which one, in which region and for which
// account. What an account holds is on disk before a reply is sent. Time passes by itself: instances boot, groups launch and
// replace, hooks time out, refreshes go on, node groups are made, updated and drained, all at sim.Speed.
//
// An account's keys may do everything until it is given policies; from then on every request is judged by them, and so is what a
// service does in its caller's name. A role's session is always judged by what the role may do.
//
// What is not simulated is refused with the service's own error for an unknown action or parameter, never ignored.
package aws
