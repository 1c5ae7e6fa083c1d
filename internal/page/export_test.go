// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package page

// FormToken is the token that forms of this server have.
func (s *Server) FormToken() string { return s.guard.form }
