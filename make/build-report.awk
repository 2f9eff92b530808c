# What a failed Maven build says that is worth reading. Quiet mode will not do: it hides the warnings that -Werror made fatal.
# A message goes on over lines that have no prefix of Maven's.
{ gsub(/\033\[[0-9;]*m/, "") }
/^\[ERROR\] *($|-> \[Help|\[Help|To see the full|Re-run Maven|For more information|After correcting|mvn <args>)/ { shown = 0; next }
/^\[(WARNING|ERROR)\]/ { shown = 1 }
/^\[INFO\]/ { shown = 0 }
shown
