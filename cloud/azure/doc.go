// Package azure runs machine pools as virtual machine scale sets, Uniform and Flexible. It translates the API's specification into
// what the SDK sends (package model says how), and what the SDK reads into pool's words. It decides nothing: which step comes when
// is pool's matter.
//
// What belongs to a pool in the cloud is one scale set, and one role assignment where its machines have an identity of their own.
// Names are functions of the object, the scale set carries the tag muster.dev_owner. What has the name without the tag belongs to another
// owner and is left alone.
//
// A look reads the scale set, and its machines with their instance views. Scale sets, and the machines of those in mode Flexible, come from
// lists of the subscription that all pools share wherever an older answer will do; otherwise they cost one request each, and one for each
// further page, as the machines of mode Uniform always do. No step rests on a shared list of machines. Flexible scale sets do not show
// there which machines are protected; that is asked after a change, then hourly. A scale set whose last operation failed is asked for its
// words besides, once.
//
// Writes are begun and never waited for. Each carries the ETag that was seen, or asks that nothing be there, so that a read that is
// behind makes nothing twice and takes nothing away. The capacity is never lowered by a write: machines that go are named, in one
// request, and Azure lowers it by their number. Resume tokens of operations are kept for one purpose alone: to ask what an
// operation failed for.
package azure
