# What run.sh tries: all families of kernels as they are, and mistakes in them. Of each family there are those of the four kinds that
# it can have: a wait that is missing, for a copy or for a cluster; a barrier that is missing; a bound that is one off; data that is
# looked for in another place than it was put. (Reductions and top-k wait for nothing but barriers. The single functions of
# intrinsics have a bound alone, and the other themes of ptx are single instructions.) `thorough` ones are left out of the quick run.

unbroken selftest
unbroken ptx
unbroken intrinsics
unbroken reduce
unbroken reduce_columns
unbroken reduce_segments
unbroken softmax
unbroken softmax_fused
unbroken softmax_split
unbroken softmax_additive
unbroken softmax_backward
unbroken topk
unbroken sampling

# What a missing barrier or wait lets a kernel do: the one or the other is met first.
early='race between this|that nobody has written'

thorough reduce_no_barrier_before_the_first_warp_reads reduce/f32 include/culebra/block.cuh \
  '/waits for the partial result of every warp/,+1 s/__syncthreads\(\);//' "$early"
mutant reduce_no_barrier_before_all_read_the_result reduce/f32 include/culebra/block.cuh \
  '/from overwriting `result` while/,+1 s/__syncthreads\(\);//' "$early"
thorough reduce_one_partial_too_many reduce/f32 include/culebra/block.cuh \
  's/self\.lane < warps/self.lane <= warps/' 'init: read of .* that nobody has written, in a shared array'
mutant reduce_load_one_beyond_the_row reduce/f32 include/culebra/reduction_rows.cuh \
  's/at < count \? row\[at\]/at <= count ? row[at]/' 'invalid global read|FAILED: '
thorough columns_no_barrier_before_states_are_read reduce_columns/f32 reduce_columns/reduce_columns.cu \
  '/waits for the states of the upper/,+1 s/__syncthreads\(\);//' "$early"
thorough columns_no_barrier_behind_the_states reduce_columns/f32 reduce_columns/reduce_columns.cu \
  '/waits until they are read/,+1 s/__syncthreads\(\);//' "$early"
thorough columns_row_beyond_the_piece reduce_columns/f32 reduce_columns/reduce_columns.cu \
  's/at < end \? column/at <= end ? column/' 'invalid global read|FAILED: '
thorough columns_states_in_another_order reduce_columns/f32 reduce_columns/reduce_columns.cu \
  's/Op\(\)\(states\[c\], slots\[c \* given \+ place\]\)/Op()(states[c], slots[place * kStates + c])/' 'FAILED: |nobody has written'
thorough segments_neighbour_counted reduce_segments/f32 reduce_segments/reduce_segments.cu \
  's/i < before \?/i + 1 < before ?/' 'FAILED: '
thorough segments_offset_not_clamped reduce_segments/f32 reduce_segments/reduce_segments.cu \
  's/x < low \? low : x > high \? high : x/x < low ? low : x/' 'invalid global read|FAILED: '
thorough segments_no_barrier_before_the_first_warp_reads reduce_segments/f32 include/culebra/block.cuh \
  '/waits for the partial result of every warp/,+1 s/__syncthreads\(\);//' "$early"
thorough segments_wrong_lane reduce_segments/f32 reduce_segments/reduce_segments.cu \
  's/shuffle\(0xffffffffu, value, lane \^ distance\)/shuffle(0xffffffffu, value, lane ^ (distance > 1 ? distance : 2))/' 'FAILED: '
thorough reduce_wrong_lane reduce/f32 include/culebra/warp.cuh \
  's/self\.lane \^ distance\)/self.lane ^ (distance > 1 ? distance : 2))/' 'FAILED: '

thorough softmax_no_barrier_before_the_first_warp_reads softmax/f32 include/culebra/block.cuh \
  '/waits for the partial result of every warp/,+1 s/__syncthreads\(\);//' "$early"
thorough softmax_store_one_beyond_the_row softmax/f32 include/culebra/resident_row.cuh \
  's/i < length; \+\+i\) row\[i\]/i <= length; ++i) row[i]/' 'invalid global write|wrote [0-9]+ elements outside'
mutant softmax_pack_beyond_the_row softmax/f32 include/culebra/resident_row.cuh \
  's/return first\(p\) \+ kPackSize<T> <= length;/return first(p) < length;/' 'invalid global (read|write)'
thorough softmax_wrong_lane softmax/f32 include/culebra/warp.cuh \
  's/self\.lane \^ distance\)/self.lane ^ (distance > 1 ? distance : 2))/' 'FAILED: '

thorough fused_no_barrier_before_the_states_are_read softmax_fused/f32 include/culebra/team.cuh \
  '/All warps wait for the state of every warp/,+1 s/__syncthreads\(\);//' "$early"
thorough fused_word_of_the_neighbour softmax_fused/bf16 include/culebra/vec.cuh \
  's/halves\[0\] \| pack\.x << 16/halves[1] | pack.x << 16/' 'FAILED: '
thorough fused_without_a_wait_for_copies softmax_fused/f32 include/culebra/resident_row.cuh \
  's/ptx::cp_async_wait_all\(\);//' "$early|FAILED: "
thorough fused_without_a_wait_for_the_cluster softmax_fused/f32 include/culebra/team.cuh \
  's/ptx::barrier_cluster_wait_acquire\(\);//' "$early|barrier\.cluster"
thorough fused_store_one_beyond_the_row softmax_fused/f32 include/culebra/resident_row.cuh \
  's/i < length; \+\+i\) row\[i\]/i <= length; ++i) row[i]/' 'invalid global write|wrote [0-9]+ elements outside'
thorough split_piece_beyond_the_row softmax_split/f16 include/culebra/row_piece.cuh \
  's/end\(first \+ piece_length < row_length \?/end(first <= row_length ?/' 'invalid global (read|write)|FAILED: '
thorough split_no_barrier_before_the_states_are_read softmax_split/f32 include/culebra/team.cuh \
  '/All warps wait for the state of every warp/,+1 s/__syncthreads\(\);//' "$early"
thorough split_state_of_another_piece softmax_split/f32 include/culebra/softmax_pieces.cuh \
  's/static_cast<State\*>\(pieces\.states\)\[i\]/static_cast<State*>(pieces.states)[piece.row]/' "$early|FAILED: "
thorough backward_no_barrier_before_the_sums_are_read softmax_backward/f32 include/culebra/team.cuh \
  '/All warps wait for the state of every warp/,+1 s/__syncthreads\(\);//' "$early"
thorough backward_without_a_wait_for_copies softmax_backward/f32 include/culebra/resident_row.cuh \
  's/ptx::cp_async_wait_all\(\);//' "$early|FAILED: "
thorough backward_piece_beyond_the_row softmax_backward/f16 include/culebra/row_piece.cuh \
  's/end\(first \+ piece_length < row_length \?/end(first <= row_length ?/' 'invalid global (read|write)|FAILED: '
thorough backward_gradients_in_place_of_results softmax_backward/f32 softmax_backward/softmax_backward.cu \
  's/dy\(memory \+ SharedRow<T>::packs_of_block\(row_length, team\.size\(\)\),/dy(memory,/' "$early|FAILED: |is on its way"
thorough additive_no_barrier_before_the_states_are_read softmax_additive/f32 include/culebra/team.cuh \
  '/All warps wait for the state of every warp/,+1 s/__syncthreads\(\);//' "$early"
thorough additive_without_a_wait_for_the_cluster softmax_additive/f32 include/culebra/team.cuh \
  's/ptx::barrier_cluster_wait_acquire\(\);//' "$early|barrier\.cluster"
thorough additive_load_one_beyond_the_row softmax_additive/f32 include/culebra/summed_row.cuh \
  's/if \(i < left\) values\[i\] = at\[i\]/if (i <= left) values[i] = at[i]/' 'invalid global read'
thorough additive_stored_in_another_order softmax_additive/f32 include/culebra/summed_row.cuh \
  's/if \(i < left\) at\[i\] = values\[i\]/if (i < left) at[i] = values[left - 1 - i]/' 'FAILED: |invalid index'
thorough sampling_no_barrier_before_the_rules_are_read sampling/f32 sampling/sampling.cu \
  '/Waits for the rules/,+1 s/__syncthreads\(\);//' "$early"
thorough sampling_no_barrier_behind_the_zeros sampling/f32 sampling/sampler.cuh \
  '/Waits for the zeros/,+1 s/__syncthreads\(\);//' "$early"
thorough sampling_without_a_wait_for_the_cluster sampling/f32 include/culebra/team.cuh \
  's/ptx::barrier_cluster_wait_acquire\(\);//' "$early|barrier\.cluster"
thorough sampling_load_one_beyond_the_row sampling/f32 include/culebra/chunk.cuh \
  's/if \(at < piece\.length\)/if (at <= piece.length)/' 'invalid global read|FAILED: '
thorough sampling_count_of_another_bin sampling/f32 sampling/sampler.cuh \
  's/return bin == 0 \? 0 : memory_\.upto_count\[bin - 1\];/return memory_.upto_count[bin];/' 'invalid index|FAILED: '
thorough sampling_target_of_the_row_in_a_part sampling/f32 sampling/sampler.cuh \
  's/if \(part > 0\) target -= /if (part > 1) target -= /' 'FAILED: '

thorough topk_no_barrier_before_the_count_is_read topk/f32 topk/candidates.cuh \
  '/Waits until all have read the keys of before/,+1 s/__syncthreads\(\);//' "$early"
thorough topk_no_barrier_behind_the_sorted_keys topk/f32 topk/candidates.cuh \
  '/Waits for the sorted keys and the count/,+1 s/__syncthreads\(\);//' "$early"
thorough topk_one_key_too_many topk/f32 topk/candidates.cuh \
  's/if \(place >= kCapacity\) break;/if (place > kCapacity) break;/' 'invalid (index|shared write)|race between this|FAILED: '
thorough topk_load_one_beyond_the_row topk/f32 include/culebra/chunk.cuh \
  's/if \(at < piece\.length\)/if (at <= piece.length)/' 'invalid global read|FAILED: '
thorough topk_sorted_to_another_place topk/f32 topk/candidates.cuh \
  's/if \(rank < k_\) sorted\[rank\] = key;/if (rank < k_) sorted[rank ^ 1] = key;/' "$early|FAILED: |invalid index"

mutant selftest_no_barrier_in_reverse selftest selftest/selftest.cu \
  '/selftest_reverse_f32\(/,/^}/ s/__syncthreads\(\);//' "$early"
mutant selftest_reverse_one_too_far selftest selftest/selftest.cu \
  '/selftest_reverse_f32\(/,/^}/ s/blockDim\.x - 1 - /blockDim.x - /' 'invalid (index|shared|global)'
thorough selftest_wrong_lane selftest include/culebra/warp.cuh \
  's/self\.lane \^ distance\)/self.lane ^ (distance > 1 ? distance : 2))/' 'FAILED: '

thorough intrinsics_one_too_many intrinsics intrinsics/group.cuh \
  's/if \(index < count\) out/if (index <= count) out/' 'invalid global (read|write)'

mutant copies_without_a_wait ptx/async ptx/async_tests.cuh \
  's/cp_async_wait_group<2>\(\);//' "$early|FAILED: cp.async"
thorough copies_without_a_barrier ptx/async ptx/async_tests.cuh \
  '/every thread.s copies have landed/ s/__syncthreads\(\);//' "$early|FAILED: cp\.async"
mutant bulk_pipeline_without_a_wait_for_data ptx/async ptx/async_tests.cuh \
  's/wait_for_parity\(shared_address\(&full\[stage\]\), tile \/ kStages % 2\);//' "$early"
mutant bulk_pipeline_without_a_wait_for_readers ptx/async ptx/async_tests.cuh \
  's/wait_for_parity\(shared_address\(&empty\[stage\]\).*//' "$early"
thorough bulk_pipeline_wrong_parity ptx/async ptx/async_tests.cuh \
  's/&full\[stage\]\), tile \/ kStages % 2\)/\&full[stage]), tile \/ kStages % 2 ^ 1)/' "$early|deadlock"
mutant bulk_store_without_a_proxy_fence ptx/async ptx/async_tests.cuh \
  '/culebra_ptx_bulk_store/,/^}/ s/fence_proxy_async_shared_cta\(\);//' 'no fence\.proxy\.async comes behind it'
thorough bulk_store_without_a_wait_for_the_source ptx/async ptx/async_tests.cuh \
  's/cp_async_bulk_wait_group_read<0>\(\);//' "$early|FAILED: "
mutant bulk_pipeline_one_tile_too_many ptx/async ptx/async_tests.cuh \
  's/t == 0 && tile \+ 1 < tiles/t == 0 \&\& tile < tiles/' 'invalid global read|is on its way|bulk cop'

mutant attention_without_a_wait ptx/attention ptx/attention_test.cuh \
  '/cp_async_wait_all/ { N; /all values are there/ s/cp_async_wait_all\(\);// }' "$early|FAILED: attention"
mutant attention_without_a_barrier ptx/attention ptx/attention_test.cuh \
  '/all values are there, and nobody/ s/__syncthreads\(\);//' "$early"
mutant attention_one_pack_too_many ptx/attention ptx/attention_test.cuh \
  's/i < kRows \* kRowPacks/i <= kRows * kRowPacks/' 'invalid (index|shared|global)'
mutant attention_stored_in_another_swizzle ptx/attention ptx/attention_test.cuh \
  's/kStride \+ i % kRowPacks\]/kStride + (i % kRowPacks ^ i \/ kRowPacks % 8)]/' 'FAILED: attention'
thorough attention_loaded_in_another_swizzle ptx/attention ptx/attention_test.cuh \
  's/kStride \+ pack \+ lane \/ 16\]/kStride + (pack + lane \/ 16 ^ lane % 8)]/' 'FAILED: attention'
