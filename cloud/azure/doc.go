// Package azure runs machine pools as virtual machine scale sets, Uniform and Flexible. It translates the API's specification into
// what the SDK sends (see package model), and what the SDK reads into what package pool describes. It decides nothing: package pool plans
// the steps.
//
// A pool has one scale set, and one role assignment (package roleassignment) if its machines have an identity of their own. Names are
// functions of the object, and the scale set carries the tag muster.dev_owner. A scale set with the name and without the tag belongs to
// another owner and is left alone.
//
// An observation reads the scale set, and its machines with their instance views. Scale sets, and the machines of those in mode Flexible,
// come from lists of the subscription that all pools share wherever an older answer is enough; otherwise they cost one request each, and
// one for each further page, as the machines of mode Uniform always do. No removal depends on a shared list of machines. The lists do not
// show which machines of Flexible scale sets are protected; that is read after a change, then every two hours. Why the last operation on a
// scale set failed is read once.
//
// Writes are begun and never waited for. Each carries the ETag that was read, or requires that nothing exists, so that a write after an
// outdated read creates nothing twice and deletes nothing. A write never lowers the capacity: machines to delete are named, in one request,
// and Azure lowers it by their number. Resume tokens of operations are kept only to ask why an operation failed.
package azure
