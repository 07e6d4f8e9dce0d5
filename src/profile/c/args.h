/*
 * The arguments of the functions by name: RW_C_ declares one in C, and RW_L_ makes of an argument of Fortran, which is
 * an address, the value that C has. RW_L_ is empty for those of which nothing is noted.
 */
#ifndef RANKWEAVE_PROFILE_ARGS_H
#define RANKWEAVE_PROFILE_ARGS_H

#define RW_C_from const void *from
#define RW_C_to void *to
#define RW_C_data void *data
#define RW_C_compared const void *compared
#define RW_C_count int count
#define RW_C_sent int sent
#define RW_C_received int received
#define RW_C_type MPI_Datatype type
#define RW_C_sent_type MPI_Datatype sent_type
#define RW_C_received_type MPI_Datatype received_type
#define RW_C_counts const int counts[]
#define RW_C_sents const int sents[]
#define RW_C_receiveds const int receiveds[]
#define RW_C_sent_places const int sent_places[]
#define RW_C_received_places const int received_places[]
#define RW_C_sent_addresses const MPI_Aint sent_addresses[]
#define RW_C_received_addresses const MPI_Aint received_addresses[]
#define RW_C_sent_types const MPI_Datatype sent_types[]
#define RW_C_received_types const MPI_Datatype received_types[]
#define RW_C_op MPI_Op op
#define RW_C_root int root
#define RW_C_rank int rank
#define RW_C_source int source
#define RW_C_tag int tag
#define RW_C_received_tag int received_tag
#define RW_C_comm MPI_Comm comm
#define RW_C_made MPI_Comm *made
#define RW_C_group MPI_Group group
#define RW_C_info MPI_Info info
#define RW_C_request MPI_Request *request
#define RW_C_requests MPI_Request requests[]
#define RW_C_handle MPI_Request handle
#define RW_C_status MPI_Status *status
#define RW_C_statuses MPI_Status statuses[]
#define RW_C_message MPI_Message *message
#define RW_C_flag int *flag
#define RW_C_index int *index
#define RW_C_done int *done
#define RW_C_indices int indices[]
#define RW_C_number int number
#define RW_C_place int place
#define RW_C_unit int unit
#define RW_C_mode int mode
#define RW_C_reorder int reorder
#define RW_C_extents const int extents[]
#define RW_C_periods const int periods[]
#define RW_C_sources const int sources[]
#define RW_C_destinations const int destinations[]
#define RW_C_degrees const int degrees[]
#define RW_C_weights const int weights[]
#define RW_C_source_weights const int source_weights[]
#define RW_C_win MPI_Win win
#define RW_C_new_win MPI_Win *new_win
#define RW_C_address MPI_Aint address
#define RW_C_file MPI_File file
#define RW_C_new_file MPI_File *new_file
#define RW_C_offset MPI_Offset offset
#define RW_C_name const char *name

#define RW_L_INT(name) int name = *(const MPI_Fint *)f_##name;
#define RW_L_TYPE(name) MPI_Datatype name = MPI_Type_f2c(*(const MPI_Fint *)f_##name);
#define RW_L_INTS(name) const int *name = f_##name;

#define RW_L_from const void *from = rw_fortran_buffer(f_from);
#define RW_L_to
#define RW_L_data
#define RW_L_compared
#define RW_L_count RW_L_INT(count)
#define RW_L_sent RW_L_INT(sent)
#define RW_L_received RW_L_INT(received)
#define RW_L_type RW_L_TYPE(type)
#define RW_L_sent_type RW_L_TYPE(sent_type)
#define RW_L_received_type RW_L_TYPE(received_type)
#define RW_L_counts RW_L_INTS(counts)
#define RW_L_sents RW_L_INTS(sents)
#define RW_L_receiveds RW_L_INTS(receiveds)
#define RW_L_sent_places
#define RW_L_received_places
#define RW_L_sent_addresses
#define RW_L_received_addresses
#define RW_L_sent_types
#define RW_L_received_types
#define RW_L_op
#define RW_L_root RW_L_INT(root)
#define RW_L_rank RW_L_INT(rank)
#define RW_L_source
#define RW_L_tag
#define RW_L_received_tag
#define RW_L_comm MPI_Comm comm = MPI_Comm_f2c(*(const MPI_Fint *)f_comm);
#define RW_L_made
#define RW_L_group
#define RW_L_info
#define RW_L_request
#define RW_L_requests
#define RW_L_handle
#define RW_L_status
#define RW_L_statuses
#define RW_L_message
#define RW_L_flag
#define RW_L_index
#define RW_L_done
#define RW_L_indices
#define RW_L_number
#define RW_L_place
#define RW_L_unit
#define RW_L_reorder RW_L_INT(reorder)
#define RW_L_extents
#define RW_L_periods
#define RW_L_sources
#define RW_L_destinations
#define RW_L_degrees
#define RW_L_weights
#define RW_L_source_weights
#define RW_L_win
#define RW_L_new_win
#define RW_L_address
#define RW_L_file
#define RW_L_new_file
#define RW_L_offset

/* RW_LIST(m, (a, b)) is `m(a), m(b)`, and RW_ALL(m, (a, b)) is `m(a) m(b)`. */
#define RW_LIST(m, args) RW_LIST_OF(m, RW_UNPACK args)
#define RW_LIST_OF(m, ...) RW_PICK(__VA_ARGS__, L12, L11, L10, L9, L8, L7, L6, L5, L4, L3, L2, L1)(m, __VA_ARGS__)
#define RW_ALL(m, args) RW_ALL_OF(m, RW_UNPACK args)
#define RW_ALL_OF(m, ...) RW_PICK(__VA_ARGS__, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1)(m, __VA_ARGS__)
#define RW_UNPACK(...) __VA_ARGS__
#define RW_PICK(...) RW_PICK_OF(__VA_ARGS__, 0)
#define RW_PICK_OF(a, b, c, d, e, f, g, h, i, j, k, l, form, ...) RW_##form

#define RW_L1(m, a) m(a)
#define RW_L2(m, a, ...) m(a), RW_L1(m, __VA_ARGS__)
#define RW_L3(m, a, ...) m(a), RW_L2(m, __VA_ARGS__)
#define RW_L4(m, a, ...) m(a), RW_L3(m, __VA_ARGS__)
#define RW_L5(m, a, ...) m(a), RW_L4(m, __VA_ARGS__)
#define RW_L6(m, a, ...) m(a), RW_L5(m, __VA_ARGS__)
#define RW_L7(m, a, ...) m(a), RW_L6(m, __VA_ARGS__)
#define RW_L8(m, a, ...) m(a), RW_L7(m, __VA_ARGS__)
#define RW_L9(m, a, ...) m(a), RW_L8(m, __VA_ARGS__)
#define RW_L10(m, a, ...) m(a), RW_L9(m, __VA_ARGS__)
#define RW_L11(m, a, ...) m(a), RW_L10(m, __VA_ARGS__)
#define RW_L12(m, a, ...) m(a), RW_L11(m, __VA_ARGS__)
#define RW_A1(m, a) m(a)
#define RW_A2(m, a, ...) m(a) RW_A1(m, __VA_ARGS__)
#define RW_A3(m, a, ...) m(a) RW_A2(m, __VA_ARGS__)
#define RW_A4(m, a, ...) m(a) RW_A3(m, __VA_ARGS__)
#define RW_A5(m, a, ...) m(a) RW_A4(m, __VA_ARGS__)
#define RW_A6(m, a, ...) m(a) RW_A5(m, __VA_ARGS__)
#define RW_A7(m, a, ...) m(a) RW_A6(m, __VA_ARGS__)
#define RW_A8(m, a, ...) m(a) RW_A7(m, __VA_ARGS__)
#define RW_A9(m, a, ...) m(a) RW_A8(m, __VA_ARGS__)
#define RW_A10(m, a, ...) m(a) RW_A9(m, __VA_ARGS__)
#define RW_A11(m, a, ...) m(a) RW_A10(m, __VA_ARGS__)
#define RW_A12(m, a, ...) m(a) RW_A11(m, __VA_ARGS__)

#endif
